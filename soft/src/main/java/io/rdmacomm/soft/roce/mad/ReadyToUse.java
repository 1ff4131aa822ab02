package io.rdmacomm.soft.roce.mad;

import java.nio.ByteBuffer;

/// RTU: the queue pair of the requesting side is ready (IBTA 12.6.9).
///
/// @param id of the requesting side
/// @param peerId of the accepting side
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
