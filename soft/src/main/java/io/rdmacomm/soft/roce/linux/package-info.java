/// Packets that Linux splits from one long datagram, or merges into one (UDP_SEGMENT and UDP_GRO, udp(7)): one
/// system call for many packets. The only part of the software device with native access; without the permission,
/// the sockets of the JDK are used.
@NullMarked
package io.rdmacomm.soft.roce.linux;

import org.jspecify.annotations.NullMarked;
