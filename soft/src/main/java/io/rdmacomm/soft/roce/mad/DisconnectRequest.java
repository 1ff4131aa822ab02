package io.rdmacomm.soft.roce.mad;

import java.nio.ByteBuffer;

/// DREQ: ends a connection (IBTA 12.6.10).
///
/// @param id of the side that ends the connection
/// @param peerId of the other side
/// @param queuePair the number of the other side's queue pair
public record DisconnectRequest(int id, int peerId, int queuePair) implements ConnectionMessage {
    static final int ATTRIBUTE = 0x15;

    @Override
    public int attribute() {
        return ATTRIBUTE;
    }

    @Override
    public void encode(ByteBuffer to) {
        to.putInt(0, id);
        to.putInt(4, peerId);
        Fields.number(to, 8, queuePair, 0);
    }

    static DisconnectRequest decode(ByteBuffer from) {
        return new DisconnectRequest(from.getInt(0), from.getInt(4), Fields.number(from, 8));
    }
}
