/// The only part of the software device with native access. [SegmentSocket] and [SegmentReceiver]: packets that Linux
/// splits from one long datagram, or merges into one (UDP_SEGMENT and UDP_GRO, udp(7)). [Futex]: sleep until a word in
/// shared memory changes. Without the permission, the JDK's sockets do all this.
@NullMarked
package io.rdmacomm.soft.linux;

import org.jspecify.annotations.NullMarked;
