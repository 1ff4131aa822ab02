/// What rxe, the kernel's software RoCE device, needs.
@NullMarked
package io.rdmacomm.ibverbs.rxe;

import org.jspecify.annotations.NullMarked;
