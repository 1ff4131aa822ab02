package io.rdmacomm.soft.roce.mad;

import java.nio.ByteBuffer;

/// REP: accepts a request (IBTA 12.6.8).
///
/// @param id of the accepting side
/// @param peerId of the requesting side
/// @param queuePair the number of the queue pair
/// @param psn the number of the first packet that this side expects
/// @param depths the most READs and atomics in flight, of the peer and of this side
/// @param rnrRetries how often the receiver retries a message that finds no receive here, 0 to 7
/// @param guid of the adapter
/// @param privateData of the program
@SuppressWarnings("ArrayRecordComponent") // never compared
public record ConnectReply(
        int id, int peerId, int queuePair, int psn, ReadDepths depths, int rnrRetries, long guid, byte[] privateData)
        implements ConnectionMessage {
    static final int ATTRIBUTE = 0x13;

    private static final int MOST_PRIVATE_DATA = 196;

    /// @throws IllegalArgumentException if there is too much private data
    public ConnectReply {
        Fields.checkPrivateData(privateData, MOST_PRIVATE_DATA);
    }

    @Override
    public int attribute() {
        return ATTRIBUTE;
    }

    @Override
    public void encode(ByteBuffer to) {
        to.putInt(0, id);
        to.putInt(4, peerId);
        Fields.number(to, 12, queuePair, 0);
        Fields.number(to, 20, psn, 0);
        to.put(24, (byte) depths.accepts());
        to.put(25, (byte) depths.makes());
        to.put(27, (byte) (rnrRetries << 5));
        to.putLong(28, guid);
        to.put(36, privateData);
    }

    static ConnectReply decode(ByteBuffer from) {
        return new ConnectReply(
                from.getInt(0),
                from.getInt(4),
                Fields.number(from, 12),
                Fields.number(from, 20),
                new ReadDepths(Fields.unsigned(from, 24), Fields.unsigned(from, 25)),
                Fields.unsigned(from, 27) >>> 5,
                from.getLong(28),
                Fields.bytes(from, 36, MOST_PRIVATE_DATA));
    }
}
