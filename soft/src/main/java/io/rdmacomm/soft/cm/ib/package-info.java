/// Connections and datagram services by address over RoCE: what rdma_cm does for InfiniBand and RoCE devices.
@NullMarked
package io.rdmacomm.soft.cm.ib;

import org.jspecify.annotations.NullMarked;
