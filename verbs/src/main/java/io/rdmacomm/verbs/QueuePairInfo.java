package io.rdmacomm.verbs;

import java.nio.ByteBuffer;

/// The numbers that a peer needs to connect to a queue pair.
///
/// [#toBytes()] writes them as 28 bytes in network order, to be exchanged over any connection:
///
/// ```
///  0       4       8      10  11  12              28
/// +-------+-------+-------+---+---+---------------+
/// | QPN   | PSN   | LID   |MTU| 0 | GID           |
/// +-------+-------+-------+---+---+---------------+
/// ```
///
/// MTU is [PathMtu#code()].
///
/// @param number the queue pair number, 24 bits
/// @param packetSequenceNumber the first packet sequence number it sends, 24 bits
/// @param lid the local identifier of its port, 16 bits
/// @param gid the global identifier of its port
/// @param mtu the largest packet payload of its side: at most that of its port
public record QueuePairInfo(int number, int packetSequenceNumber, int lid, Gid gid, PathMtu mtu) {
    /// The number of bytes that [#toBytes()] returns.
    public static final int BYTES = 28;

    /// Checks the ranges.
    public QueuePairInfo {
        Checks.range("queue pair number", number, 0, 0xffffff);
        Checks.range("packet sequence number", packetSequenceNumber, 0, 0xffffff);
        Checks.range("LID", lid, 0, 0xffff);
    }

    /// The bytes for a peer.
    public byte[] toBytes() {
        return ByteBuffer.allocate(BYTES)
                .putInt(number)
                .putInt(packetSequenceNumber)
                .putShort((short) lid)
                .put((byte) mtu.code())
                .put((byte) 0)
                .put(gid.bytes())
                .array();
    }

    /// Decodes the [#toBytes()] of a peer. All values are checked: untrusted bytes can only cause this
    /// exception.
    ///
    /// @throws IllegalArgumentException if there are not [#BYTES] bytes, or a number is out of range
    public static QueuePairInfo ofBytes(byte[] bytes) {
        Checks.range("bytes of the numbers of a queue pair", bytes.length, BYTES, BYTES);
        ByteBuffer from = ByteBuffer.wrap(bytes);
        int number = from.getInt();
        int sequence = from.getInt();
        int lid = Short.toUnsignedInt(from.getShort());
        PathMtu mtu = PathMtu.ofCode(from.get());
        Checks.range("reserved byte", from.get(), 0, 0);
        return new QueuePairInfo(number, sequence, lid, new Gid(from.getLong(), from.getLong()), mtu);
    }
}
