/// `rdmacomm run`: starts a program whose sockets of `java.nio` go over RDMA.
@NullMarked
package io.rdmacomm.cli.run;

import org.jspecify.annotations.NullMarked;
