/// Sockets of `java.nio` over RDMA (rsocket(7)), for programs that do not know about RDMA.
@NullMarked
package io.rdmacomm.nio;

import org.jspecify.annotations.NullMarked;
