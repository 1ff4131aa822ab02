/// Support for rxe, the kernel's software RoCE device.
@NullMarked
package io.rdmacomm.ibverbs.rxe;

import org.jspecify.annotations.NullMarked;
