/// The file copy of `rdmacomm send` and `rdmacomm recv`: the protocol, both ends of it, and what it travels
/// over.
@NullMarked
package io.rdmacomm.cli.copy;

import org.jspecify.annotations.NullMarked;
