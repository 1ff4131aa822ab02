package io.rdmacomm.comm;

import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.PathMtu;
import io.rdmacomm.verbs.QueuePairInfo;
import java.nio.ByteBuffer;

/// What a peer must know of one channel. 56 bytes in network order:
///
/// ```
///  0       4       8      10  11  12              28
/// +-------+-------+-------+---+---+---------------+
/// | QPN   | PSN   | LID   |MTU|R/A| GID           |
/// +-------+-------+-------+---+---+---------------+
///  28      32      36      40              48      52      56
/// +-------+-------+-------+---------------+-------+-------+
/// |receive|message|questi-| credit cell   | credit|   0   |
/// |count  |bytes  |on B   | address       | key   |       |
/// +-------+-------+-------+---------------+-------+-------+
/// ```
///
/// @param queuePair the numbers of its queue pair
/// @param receives receives that are posted before it says that it is ready
/// @param messageBytes the longest message it receives
/// @param readAtomic READs and atomics it answers at a time
/// @param questionBytes how much of its credit cell is READ to ask whether all has arrived: 0 or 8; see decision
/// 22
/// @param creditAddress where it wants to be told how many receives the other side has posted
/// @param creditKey the remote key for that
record ChannelInfo(
        QueuePairInfo queuePair,
        int receives,
        int messageBytes,
        int readAtomic,
        int questionBytes,
        long creditAddress,
        int creditKey) {
    static final int BYTES = 56;

    private static final PathMtu[] MTUS = PathMtu.values();

    ChannelInfo {
        Checks.range("receives", receives, 1, 1 << 16);
        Checks.range("message bytes", messageBytes, 0, 1 << 24);
        Checks.range("question bytes", questionBytes, 0, Long.BYTES);
    }

    void put(ByteBuffer to) {
        to.putInt(queuePair.number()).putInt(queuePair.packetSequenceNumber());
        to.putShort((short) queuePair.lid());
        to.put((byte) queuePair.mtu().code()).put((byte) readAtomic);
        to.put(queuePair.gid().bytes());
        to.putInt(receives).putInt(messageBytes).putInt(questionBytes);
        to.putLong(creditAddress).putInt(creditKey).putInt(0);
    }

    /// Reads what [#put] wrote.
    ///
    /// @throws IllegalArgumentException if a number is out of range
    static ChannelInfo get(ByteBuffer from) {
        int number = from.getInt();
        int sequence = from.getInt();
        int lid = from.getShort() & 0xffff;
        int mtu = Checks.range("MTU code", from.get(), 1, MTUS.length);
        int readAtomic = from.get() & 0xff;
        Gid gid = new Gid(from.getLong(), from.getLong());
        int receives = from.getInt();
        int messageBytes = from.getInt();
        int questionBytes = from.getInt();
        long address = from.getLong();
        int key = from.getInt();
        from.getInt();
        return new ChannelInfo(
                new QueuePairInfo(number, sequence, lid, gid, MTUS[mtu - 1]),
                receives,
                messageBytes,
                readAtomic,
                questionBytes,
                address,
                key);
    }
}
