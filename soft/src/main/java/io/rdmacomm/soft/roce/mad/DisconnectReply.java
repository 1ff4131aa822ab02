package io.rdmacomm.soft.roce.mad;

import java.nio.ByteBuffer;

/// DREP: the connection has ended (IBTA 12.6.11).
///
/// @param id of the answering side
/// @param peerId of the side that has ended the connection
public record DisconnectReply(int id, int peerId) implements ConnectionMessage {
    static final int ATTRIBUTE = 0x16;

    @Override
    public int attribute() {
        return ATTRIBUTE;
    }

    @Override
    public void encode(ByteBuffer to) {
        to.putInt(0, id);
        to.putInt(4, peerId);
    }

    static DisconnectReply decode(ByteBuffer from) {
        return new DisconnectReply(from.getInt(0), from.getInt(4));
    }
}
