/// What irdma, the driver of Intel's Ethernet adapters, needs.
@NullMarked
package io.rdmacomm.ibverbs.irdma;

import org.jspecify.annotations.NullMarked;
