package io.rdmacomm.soft.roce.mad;

import java.nio.ByteBuffer;

/// SIDR_REP: the queue pair that receives the datagrams of a service (IBTA 12.11.2).
///
/// @param id of the request
/// @param status one of those below, or another one
/// @param queuePair its number
/// @param service the service ID
/// @param queueKey its queue key
/// @param privateData of the program
@SuppressWarnings("ArrayRecordComponent") // never compared
public record ServiceReply(int id, int status, int queuePair, long service, int queueKey, byte[] privateData)
        implements ConnectionMessage {
    /// There is a queue pair.
    public static final int FOUND = 0;
    /// No program listens.
    public static final int NOBODY_LISTENS = 1;
    /// The program has rejected the request.
    public static final int REJECTED = 2;

    static final int ATTRIBUTE = 0x18;

    private static final int MOST_PRIVATE_DATA = 136;

    /// @throws IllegalArgumentException if there is too much private data
    public ServiceReply {
        Fields.checkPrivateData(privateData, MOST_PRIVATE_DATA);
    }

    @Override
    public int attribute() {
        return ATTRIBUTE;
    }

    @Override
    public void encode(ByteBuffer to) {
        to.putInt(0, id);
        to.put(4, (byte) status);
        Fields.number(to, 8, queuePair, 0);
        to.putLong(12, service);
        to.putInt(20, queueKey);
        to.put(96, privateData);
    }

    static ServiceReply decode(ByteBuffer from) {
        return new ServiceReply(
                from.getInt(0),
                Fields.unsigned(from, 4),
                Fields.number(from, 8),
                from.getLong(12),
                from.getInt(20),
                Fields.bytes(from, 96, MOST_PRIVATE_DATA));
    }
}
