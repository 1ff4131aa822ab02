/// Support for siw, the kernel's software iWARP device: all workarounds for its defects are here.
@NullMarked
package io.rdmacomm.ibverbs.siw;

import org.jspecify.annotations.NullMarked;
