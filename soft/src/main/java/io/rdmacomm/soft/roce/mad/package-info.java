/// The datagrams that connection managers exchange (IBTA 13.4, 12.6, and annex A11 for the addresses of programs).
/// Knows no sockets and no device.
@NullMarked
package io.rdmacomm.soft.roce.mad;

import org.jspecify.annotations.NullMarked;
