package io.rdmacomm.comm.data;

import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.PathMtu;
import io.rdmacomm.verbs.QueuePairInfo;
import java.nio.ByteBuffer;

/// The description of one channel for the peer. 56 bytes in network order:
///
/// ```
///  0       4       8      10  11  12              28
/// +-------+-------+-------+---+---+---------------+
/// | QPN   | PSN   | LID   |MTU|R/A| GID           |
/// +-------+-------+-------+---+---+---------------+
///  28      32      36      40              48      52      56
/// +-------+-------+-------+---------------+-------+-------+
/// |receive|message|arrival| credit cell   | credit|   0   |
/// |count  |bytes  |read B | address       | key   |       |
/// +-------+-------+-------+---------------+-------+-------+
/// ```
///
/// @param queuePair the numbers of its queue pair
/// @param receives the receives that are posted before it sends READY
/// @param messageBytes the longest message that it receives
/// @param readAtomic the READs and atomics that it answers at a time
/// @param arrivalReadBytes the bytes of its credit cell that an arrival read READs: 0 or 8; see decision 22
/// @param creditAddress where the other side writes how many receives it has posted
/// @param creditKey the remote key of that memory
public record ChannelInfo(
        QueuePairInfo queuePair,
        int receives,
        int messageBytes,
        int readAtomic,
        int arrivalReadBytes,
        long creditAddress,
        int creditKey) {
    /// Its length on the wire.
    public static final int BYTES = 56;

    /// Checks the ranges.
    public ChannelInfo {
        Bounds.range("receives", receives, 1, 1 << 16);
        Bounds.range("message bytes", messageBytes, 0, 1 << 24);
        Bounds.range("arrival read bytes", arrivalReadBytes, 0, Long.BYTES);
    }

    /// Writes it at the position of `to`.
    public void put(ByteBuffer to) {
        to.putInt(queuePair.number()).putInt(queuePair.packetSequenceNumber());
        to.putShort((short) queuePair.lid());
        to.put((byte) queuePair.mtu().code()).put((byte) readAtomic);
        to.put(queuePair.gid().bytes());
        to.putInt(receives).putInt(messageBytes).putInt(arrivalReadBytes);
        to.putLong(creditAddress).putInt(creditKey).putInt(0);
    }

    /// Reads what [#put] wrote.
    ///
    /// @throws IllegalArgumentException if a number is out of range
    public static ChannelInfo get(ByteBuffer from) {
        int number = from.getInt();
        int sequence = from.getInt();
        int lid = from.getShort() & 0xffff;
        PathMtu mtu = PathMtu.ofCode(from.get());
        int readAtomic = from.get() & 0xff;
        Gid gid = new Gid(from.getLong(), from.getLong());
        int receives = from.getInt();
        int messageBytes = from.getInt();
        int arrivalReadBytes = from.getInt();
        long address = from.getLong();
        int key = from.getInt();
        from.getInt();
        return new ChannelInfo(
                new QueuePairInfo(number, sequence, lid, gid, mtu),
                receives,
                messageBytes,
                readAtomic,
                arrivalReadBytes,
                address,
                key);
    }
}
