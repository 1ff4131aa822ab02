package io.rdmacomm.soft.tcp;

import io.rdmacomm.soft.iwarp.Fpdu;
import java.net.InetAddress;

/// How a device uses TCP.
///
/// @param address the address that it listens on and calls from
/// @param checksum which links have a checksum (CRC-32C) if the peer does not insist on one
/// @param segment the longest frame that it sends, in bytes: what one TCP segment of the path carries (the EMSS of
///         RFC 5044 4.5)
/// @param silenceSeconds how long the host of an idle peer may be silent before the link ends
/// @param callersFromAnywhere whether the peer of a queue pair may call from another address than its own, as it
///         does from behind NAT
public record TcpSettings(
        InetAddress address, Checksum checksum, int segment, int silenceSeconds, boolean callersFromAnywhere) {
    /// The longest frame where nothing limits it.
    public static final int NO_LIMIT = Fpdu.bytes(Fpdu.MAX_SEGMENT_BYTES);

    /// How long a peer's host may be silent by default, in seconds.
    public static final int USUAL_SILENCE = 30;

    /// The TCP links that have a checksum.
    public enum Checksum {
        /// Links to other hosts: data within a host is not damaged on the way.
        BETWEEN_HOSTS,
        /// All links.
        ALWAYS,
        /// No links.
        NEVER
    }

    /// The longest DDP segment that it sends, in bytes: what a frame of at most [#segment] bytes holds.
    public int segmentLimit() {
        return Fpdu.segmentLimit(segment);
    }

    /// Whether this side asks for a checksum on a link between these two addresses.
    public boolean checksumBetween(InetAddress local, InetAddress remote) {
        return switch (checksum) {
            case ALWAYS -> true;
            case NEVER -> false;
            case BETWEEN_HOSTS -> !remote.isLoopbackAddress() && !remote.equals(local);
        };
    }
}
