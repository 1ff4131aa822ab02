package io.rdmacomm.nio.rsocket;

import java.nio.ByteBuffer;

/// The 40 bytes that both ends of an rsocket exchange in the private data of the connection manager (`struct
/// rs_conn_data` in rsocket.c), in network byte order. Each end describes its own memory.
///
/// @param credits the number of messages that the peer may send before it gets new credits
/// @param mappings the number of ranges of its memory that the peer may map for this end; it writes them after the
///         targets
/// @param targets the address to which the peer writes its next grants
/// @param targetKey the remote key of the targets
/// @param targetCount the number of targets; the peer uses them in turn
/// @param data the address to which the peer writes its first bytes
/// @param dataKey the remote key for `data`
/// @param dataLength the number of bytes at `data`
/// @param immediate whether a receive may complete with immediate data even where the C library sends messages
///         instead: our extension, after the 40 bytes
record ConnectionData(
        int credits,
        int mappings,
        long targets,
        int targetKey,
        int targetCount,
        long data,
        int dataKey,
        int dataLength,
        boolean immediate) {
    /// The length without the extension.
    static final int BYTES = 40;

    private static final int VERSION = 1;
    private static final int BIG_ENDIAN_FLAG = 1;
    private static final int MAPPINGS_FLAG = 2;
    private static final int RESERVED_BYTES = 3;
    private static final int LEAST_TARGETS = 2;
    /// Marks the highest 7 of 15 bits of the number of mappings.
    private static final int SCALED = 0x80;
    private static final int SCALE = 8;
    /// The first word of the extension, before its version and features.
    private static final int EXTENSION = 0x4a52_7301;
    private static final int IMMEDIATE_FEATURE = 1;
    private static final int EXTENSION_BYTES = 8;

    /// Reads what the peer has sent.
    ///
    /// @param bytes the private data, possibly padded with zeros
    /// @throws ProtocolException if the peer is not an rsocket, or has an unknown version
    static ConnectionData parse(byte[] bytes) throws ProtocolException {
        if (bytes.length < BYTES) {
            throw new ProtocolException("the peer is not an rsocket: it sent " + bytes.length
                    + " bytes of private data instead of " + BYTES + "; run an rsocket program at both ends");
        }
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        int version = buffer.get();
        if (version != VERSION) {
            throw new ProtocolException(
                    "the peer is not an rsocket of version " + VERSION + ": it sent version " + (version & 0xff));
        }
        int flags = buffer.get();
        if ((flags & BIG_ENDIAN_FLAG) != 0) {
            throw new ProtocolException("the peer is a big-endian machine, which rsockets here do not support");
        }
        int credits = buffer.getShort() & 0xffff;
        buffer.position(buffer.position() + RESERVED_BYTES);
        int mappings = buffer.get() & 0xff;
        ConnectionData data = new ConnectionData(
                credits,
                (flags & MAPPINGS_FLAG) == 0 ? 0 : mappings <= SCALED ? mappings : (mappings & ~SCALED) << SCALE,
                buffer.getLong(),
                buffer.getInt(),
                buffer.getInt(),
                buffer.getLong(),
                buffer.getInt(),
                buffer.getInt(),
                isImmediate(buffer));
        data.check();
        return data;
    }

    private static boolean isImmediate(ByteBuffer buffer) {
        // After the 40 bytes, regardless of the position of the buffer.
        return buffer.capacity() >= BYTES + EXTENSION_BYTES
                && buffer.getInt(BYTES) == EXTENSION
                && (buffer.getInt(BYTES + Integer.BYTES) & IMMEDIATE_FEATURE) != 0;
    }

    private void check() throws ProtocolException {
        if (credits == 0 || targetCount < LEAST_TARGETS || dataLength < 1 || dataLength > RsMessage.MAX_DATA) {
            throw new ProtocolException("the peer offers " + credits + " messages, " + targetCount + " targets and "
                    + dataLength + " bytes; a stream needs at least one message, two targets, and 1 to "
                    + RsMessage.MAX_DATA + " bytes");
        }
    }

    /// The address of the peer's table of mappings.
    long table() {
        return targets + (long) ConnectionMemory.TARGET_BYTES * targetCount;
    }

    /// The private data, with the extension if `room` bytes are enough for it.
    byte[] bytes(int room) {
        boolean extended = immediate && room >= BYTES + EXTENSION_BYTES;
        ByteBuffer buffer = ByteBuffer.allocate(extended ? BYTES + EXTENSION_BYTES : BYTES);
        buffer.put((byte) VERSION).put((byte) MAPPINGS_FLAG).putShort((short) credits);
        buffer.position(buffer.position() + RESERVED_BYTES);
        buffer.put((byte) (mappings <= SCALED ? mappings : SCALED | (mappings >> SCALE)));
        buffer.putLong(targets).putInt(targetKey).putInt(targetCount);
        buffer.putLong(data).putInt(dataKey).putInt(dataLength);
        if (extended) {
            buffer.putInt(EXTENSION).putInt(IMMEDIATE_FEATURE);
        }
        return buffer.array();
    }
}
