/// The connection manager over librdmacm.
@NullMarked
package io.rdmacomm.ibverbs.cm;

import org.jspecify.annotations.NullMarked;
