package io.rdmacomm.soft;

import io.rdmacomm.soft.iwarp.MpaFrame;
import io.rdmacomm.soft.iwarp.MpaNegotiation;
import io.rdmacomm.soft.iwarp.PeerHandshake;
import io.rdmacomm.soft.iwarp.QueuePairAddress;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.PathMtu;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairInfo;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;

/// Calls the listener of a device as the peer of one of its queue pairs would: it knows all numbers.
///
/// @param context the device
/// @param victim its queue pair, which [#connect] has connected to no other
record Impostor(Context context, QueuePair victim) {
    /// The number of the queue pair that it pretends to be.
    static final int NUMBER = 0x77;
    /// The packet sequence number that it pretends to begin with.
    static final int PSN = 0x123456;

    private static final int LID = 1;
    private static final int READS = 16;

    /// Has the victim wait for it.
    static Impostor connect(Context context, QueuePair victim) {
        return connect(context, victim, ConnectionOptions.defaults());
    }

    static Impostor connect(Context context, QueuePair victim, ConnectionOptions how) {
        victim.connect(new QueuePairInfo(NUMBER, PSN, LID, Soft.of(context).queryGid(1, 0), PathMtu.MTU_4096), how);
        return new Impostor(context, victim);
    }

    /// A TCP connection to the device.
    SocketChannel call() throws IOException {
        return SocketChannel.open(new InetSocketAddress(
                InetAddress.getLoopbackAddress(), Soft.of(context).lid()));
    }

    /// The bytes to begin with: the handshake of the right peer, with these settings.
    byte[] request(int psn, int features, int longestSegment, boolean checksum) {
        QueuePairInfo info = victim.info();
        PeerHandshake handshake = new PeerHandshake(
                MpaFrame.Kind.REQUEST,
                PeerHandshake.Verdict.ACCEPTED,
                features,
                longestSegment,
                1,
                PeerHandshake.NO_HOST,
                new QueuePairAddress(Soft.of(context).queryGid(1, 0), LID, NUMBER),
                psn,
                info.packetSequenceNumber(),
                new QueuePairAddress(
                        Soft.of(context).queryGid(1, 0), Soft.of(context).lid(), info.number()));
        return new MpaNegotiation(checksum, READS, READS)
                .request(handshake.appendTo(new byte[0]))
                .encode()
                .array();
    }
}
