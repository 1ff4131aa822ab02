/// The packets of RoCE v2: an InfiniBand transport packet in a UDP datagram (InfiniBand Architecture Specification
/// 1.4, chapter 9 and annex A17). Knows no sockets. Violations are return values, because hostile packets must cost
/// no more than good ones.
@NullMarked
package io.rdmacomm.soft.roce.wire;

import org.jspecify.annotations.NullMarked;
