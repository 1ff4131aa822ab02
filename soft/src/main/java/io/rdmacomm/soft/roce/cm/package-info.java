/// The protocol of the connection manager over RoCE (IBTA chapter 12): who asks whom, what is repeated and for how
/// long,
/// and what late or repeated messages get. It knows addresses and messages, not queue pairs.
@NullMarked
package io.rdmacomm.soft.roce.cm;

import org.jspecify.annotations.NullMarked;
