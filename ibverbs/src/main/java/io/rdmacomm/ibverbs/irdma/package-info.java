/// Special cases of irdma, the driver of Ethernet adapters of Intel.
@NullMarked
package io.rdmacomm.ibverbs.irdma;

import org.jspecify.annotations.NullMarked;
