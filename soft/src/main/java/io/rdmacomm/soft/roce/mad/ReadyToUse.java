package io.rdmacomm.soft.roce.mad;

import java.nio.ByteBuffer;

/// RTU: the side that asked has its queue pair ready (IBTA 12.6.9).
///
/// @param id of the side that asked
/// @param peerId of the side that accepted
public record ReadyToUse(int id, int peerId) implements ConnectionMessage {
    static final int ATTRIBUTE = 0x14;

    @Override
    public int attribute() {
        return ATTRIBUTE;
    }

    @Override
    public void encode(ByteBuffer to) {
        to.putInt(0, id);
        to.putInt(4, peerId);
    }

    static ReadyToUse decode(ByteBuffer from) {
        return new ReadyToUse(from.getInt(0), from.getInt(4));
    }
}
