package io.rdmacomm.soft.tcp;

import io.rdmacomm.soft.iwarp.FpduLayout;
import io.rdmacomm.soft.iwarp.MpaTerms;
import io.rdmacomm.soft.iwarp.PeerHandshake;
import io.rdmacomm.verbs.SendOpcode;
import java.util.EnumSet;
import java.util.Set;

/// The terms that both ends of a TCP connection have agreed on before a queue pair takes it over.
///
/// @param mpa what MPA negotiates
/// @param features the `FEATURE_` bits of [PeerHandshake] that both sides have; 0 for a third-party device
/// @param segmentLimit the longest DDP segment to send, in bytes
/// @param initiator whether this side opened the TCP connection
/// @param peerNumber the number of the peer's queue pair, 0 if it is not known
public record LinkTerms(MpaTerms mpa, int features, int segmentLimit, boolean initiator, int peerNumber) {
    /// All features of this version.
    public static final int FEATURES =
            PeerHandshake.FEATURE_IMMEDIATE | PeerHandshake.FEATURE_ATOMIC | PeerHandshake.FEATURE_ACKNOWLEDGE;
    /// The size of a frame between our own devices, with its header: just under 64 KiB. With all headers it fits into
    /// one TCP segment of the loopback interface (65,483 bytes), or of an adapter that merges segments, so that one
    /// read takes a whole frame.
    public static final int LONGEST_SEGMENT = 65_440;
    /// The shortest limit that a peer may ask for: segments without room for payload would never end a message.
    private static final int SHORTEST_SEGMENT = 128;

    private static final int CACHE_LINE = 64;

    /// Most READs and atomic operations of one queue pair in flight.
    public static final int MOST_READS = 255;

    /// The terms that were agreed on with one of our own devices.
    public static LinkTerms with(PeerHandshake peer, MpaTerms mpa, boolean initiator, TcpSettings own) {
        int number = peer.source().number();
        return new LinkTerms(mpa, FEATURES & peer.features(), segmentLimit(peer, own), initiator, number);
    }

    /// The answer to a request of one of our own devices.
    static PeerHandshake reply(PeerHandshake request, PeerHandshake.Verdict verdict) {
        return request.reply(verdict, FEATURES, LONGEST_SEGMENT, PeerHandshake.NO_HOST);
    }

    /// The longest segment to send to one of our own devices.
    static int segmentLimit(PeerHandshake peer, TcpSettings own) {
        return Math.clamp(peer.longestSegment(), SHORTEST_SEGMENT, own.segmentLimit());
    }

    /// The payload of all segments of a message but the last: whole cache lines keep the copies on both sides aligned.
    public static int mostPayload(int segmentLimit) {
        int room = segmentLimit - (FpduLayout.UNTAGGED_BYTES - FpduLayout.DDP_CONTROL);
        return room >= CACHE_LINE ? room & -CACHE_LINE : room;
    }

    /// The operations that the peer does not support: it has only those of RFC 5040, or an older version of our own.
    Set<SendOpcode> missing() {
        EnumSet<SendOpcode> missing = EnumSet.noneOf(SendOpcode.class);
        if (!has(PeerHandshake.FEATURE_IMMEDIATE)) {
            missing.add(SendOpcode.SEND_WITH_IMMEDIATE);
            missing.add(SendOpcode.WRITE_WITH_IMMEDIATE);
        }
        if (!has(PeerHandshake.FEATURE_ATOMIC)) {
            missing.add(SendOpcode.COMPARE_AND_SWAP);
            missing.add(SendOpcode.FETCH_AND_ADD);
        }
        return missing;
    }

    /// Whether both sides have the feature.
    boolean has(int feature) {
        return (features & feature) != 0;
    }

    /// Whether both sides acknowledge requests.
    boolean acknowledges() {
        return has(PeerHandshake.FEATURE_ACKNOWLEDGE);
    }
}
