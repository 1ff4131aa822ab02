/// Sockets of `java.nio` over RDMA.
@NullMarked
package io.rdmacomm.tests.nio;

import org.jspecify.annotations.NullMarked;
