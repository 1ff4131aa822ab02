/// Real RDMA devices: every object of the verbs wraps the C struct that libibverbs made for it, and work requests
/// and completions go to the driver as they lie in memory. Nothing here links native code; that is `.ffm`'s part.
@NullMarked
package io.rdmacomm.ibverbs;

import org.jspecify.annotations.NullMarked;
