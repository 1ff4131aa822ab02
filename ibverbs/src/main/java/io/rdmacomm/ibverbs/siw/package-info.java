/// Support for siw, the kernel's software iWARP device: everything that works around its defects is here.
@NullMarked
package io.rdmacomm.ibverbs.siw;

import org.jspecify.annotations.NullMarked;
