/// The protocol of the connection manager over RoCE (IBTA chapter 12): which side asks, what is retransmitted and
/// for how long, and how late or repeated messages are answered. It knows addresses and messages, not queue pairs.
@NullMarked
package io.rdmacomm.soft.roce.cm;

import org.jspecify.annotations.NullMarked;
