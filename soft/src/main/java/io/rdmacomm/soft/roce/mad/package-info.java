/// The datagrams with which connection managers talk (IBTA 13.4, 12.6, and annex A11 for the addresses of programs): no
/// sockets, and nothing of the device.
@NullMarked
package io.rdmacomm.soft.roce.mad;

import org.jspecify.annotations.NullMarked;
