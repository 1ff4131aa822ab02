/// Sockets of `java.nio` over RDMA (rsocket(7)), for programs that do not know about RDMA.
///
/// Version 1.0 freezes this package, which changes as [io.rdmacomm.verbs] does. What the channels do follows
/// `java.nio.channels`.
@NullMarked
package io.rdmacomm.nio;

import org.jspecify.annotations.NullMarked;
