package io.rdmacomm.soft.roce.mad;

import java.nio.ByteBuffer;

/// REJ: rejects a request or a reply (IBTA 12.6.7).
///
/// @param id of the rejecting side; 0 if it has none
/// @param peerId of the other side; 0 if it is not known
/// @param refused the kind of the rejected message
/// @param reason one of those below, or another one
/// @param guid of the adapter of a side that gives up its request, by which Linux finds the request; else 0
/// @param privateData of the program
@SuppressWarnings("ArrayRecordComponent") // never compared
public record Rejection(int id, int peerId, MessageKind refused, int reason, long guid, byte[] privateData)
        implements ConnectionMessage {
    /// The queue pair number is not possible.
    public static final int NO_QUEUE_PAIR = 1;
    /// This side has no room for more.
    public static final int NO_RESOURCES = 3;
    /// The requesting side no longer waits for the answer (IBTA 12.6.7.2: the GUID identifies it).
    public static final int TIMEOUT = 4;
    /// There is no connection with these numbers.
    public static final int UNKNOWN_ID = 6;
    /// No program listens.
    public static final int NOBODY_LISTENS = 8;
    /// Only reliable connections are supported.
    public static final int TRANSPORT = 9;
    /// This side has another connection with the same queue pair.
    public static final int STALE = 10;
    /// The GIDs are not those of the packet.
    public static final int WRONG_GID = 12;
    /// The path MTU is larger than that of this side.
    public static final int WRONG_MTU = 26;
    /// The program has rejected it.
    public static final int PROGRAM = 28;

    static final int ATTRIBUTE = 0x12;

    private static final int MOST_PRIVATE_DATA = 148;
    private static final int INFORMATION_LENGTH_AT = 9;
    private static final int INFORMATION_AT = 12;

    /// @throws IllegalArgumentException if there is too much private data
    public Rejection {
        Fields.checkPrivateData(privateData, MOST_PRIVATE_DATA);
    }

    /// Without private data.
    public Rejection(int id, int peerId, MessageKind refused, int reason) {
        this(id, peerId, refused, reason, 0, new byte[0]);
    }

    @Override
    public int attribute() {
        return ATTRIBUTE;
    }

    @Override
    public void encode(ByteBuffer to) {
        to.putInt(0, id);
        to.putInt(4, peerId);
        to.put(8, refused.octet());
        to.putShort(10, (short) reason);
        if (guid != 0) {
            to.put(INFORMATION_LENGTH_AT, (byte) (Long.BYTES << 1));
            to.putLong(INFORMATION_AT, guid);
        }
        to.put(84, privateData);
    }

    static Rejection decode(ByteBuffer from) {
        return new Rejection(
                from.getInt(0),
                from.getInt(4),
                MessageKind.of(Fields.unsigned(from, 8)),
                Short.toUnsignedInt(from.getShort(10)),
                Fields.unsigned(from, INFORMATION_LENGTH_AT) >>> 1 == Long.BYTES ? from.getLong(INFORMATION_AT) : 0,
                Fields.bytes(from, 84, MOST_PRIVATE_DATA));
    }
}
