/// Special cases of kernel drivers that need one or two classes.
@NullMarked
package io.rdmacomm.ibverbs.drivers;

import org.jspecify.annotations.NullMarked;
