/// Sockets of `java.nio` over RDMA (rsocket(7)), for programs that know nothing of it.
@NullMarked
package io.rdmacomm.nio;

import org.jspecify.annotations.NullMarked;
