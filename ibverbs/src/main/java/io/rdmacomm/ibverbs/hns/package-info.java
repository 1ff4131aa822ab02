/// Special cases of hns, the adapters of HiSilicon.
@NullMarked
package io.rdmacomm.ibverbs.hns;

import org.jspecify.annotations.NullMarked;
