/// The rsocket protocol of librdmacm (rsocket(7)): a stream of bytes in both directions over one queue pair.
/// Knows nothing of `java.nio.channels`.
@NullMarked
package io.rdmacomm.nio.rsocket;

import org.jspecify.annotations.NullMarked;
