/// Packets that Linux cuts out of one long datagram, or joins to one (UDP_SEGMENT and UDP_GRO, udp(7)): one call of the
/// system for many packets. The only part of the software device with native access; without the permission, all goes
/// through the sockets of the
/// JDK.
@NullMarked
package io.rdmacomm.soft.roce.linux;

import org.jspecify.annotations.NullMarked;
