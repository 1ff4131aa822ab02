package io.rdmacomm.soft.roce.mad;

import java.nio.ByteBuffer;

/// MRA: a message has arrived, and the program will take some time to answer (IBTA 12.6.6).
///
/// @param id of the side that has received the message
/// @param peerId of the side that has sent it
/// @param received which message it was
/// @param timeout the code of the time that the program may take: 4.096 us times 2 to this power
public record Receipt(int id, int peerId, MessageKind received, int timeout) implements ConnectionMessage {
    static final int ATTRIBUTE = 0x11;

    @Override
    public int attribute() {
        return ATTRIBUTE;
    }

    @Override
    public void encode(ByteBuffer to) {
        to.putInt(0, id);
        to.putInt(4, peerId);
        to.put(8, received.octet());
        to.put(9, (byte) (timeout << 3));
    }

    static Receipt decode(ByteBuffer from) {
        return new Receipt(
                from.getInt(0),
                from.getInt(4),
                MessageKind.of(Fields.unsigned(from, 8)),
                Fields.unsigned(from, 9) >>> 3);
    }
}
