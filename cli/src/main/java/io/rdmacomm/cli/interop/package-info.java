/// The commands `ping`, `copy-string` and `stream`, and the protocols of well-known C programs to interoperate
/// with: ibv_rc_pingpong(1), rping(1), rstream(1), perftest, and the string copy that introductions to rdma_cm(7)
/// use as their example.
@NullMarked
package io.rdmacomm.cli.interop;

import org.jspecify.annotations.NullMarked;
