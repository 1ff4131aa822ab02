/// `rdmacomm stream`: both sides of rstream(1), over sockets of the module `nio` or of the JDK.
@NullMarked
package io.rdmacomm.cli.stream;

import org.jspecify.annotations.NullMarked;
