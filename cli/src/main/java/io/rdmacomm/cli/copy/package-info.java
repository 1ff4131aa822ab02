/// The file copy of `rdmacomm send` and `rdmacomm recv`: the protocol, both of its sides, and its transports.
@NullMarked
package io.rdmacomm.cli.copy;

import org.jspecify.annotations.NullMarked;
