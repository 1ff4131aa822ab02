/// Packets that Linux cuts out of one long datagram (UDP_SEGMENT, udp(7)): one call of the system for many packets. The
/// only part of the software device with native access; without the permission, all goes through the sockets of the
/// JDK.
@NullMarked
package io.rdmacomm.soft.roce.linux;

import org.jspecify.annotations.NullMarked;
