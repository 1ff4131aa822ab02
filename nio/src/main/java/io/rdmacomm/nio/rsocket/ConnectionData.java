package io.rdmacomm.nio.rsocket;

import java.nio.ByteBuffer;

/// The 40 bytes that both ends of an rsocket exchange in the private data of the connection manager (`struct
/// rs_conn_data` in rsocket.c), in network byte order. Each end describes its own memory.
///
/// @param credits how many messages the peer may send before it hears more
/// @param mappings how many stretches of its memory the peer may map for this end; it writes them behind the
///        targets
/// @param targets where the peer writes its next grants
/// @param targetKey the remote key of these
/// @param targetCount how many there are; the peer goes round
/// @param data where the peer writes its first bytes
/// @param dataKey the remote key of that place
/// @param dataLength its length in bytes
/// @param immediate whether a receive may complete with immediate data even where the C library sends messages
///        instead: our extension, behind the 40 bytes
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
    /// Begins the extension; then come its version and its features.
    private static final int EXTENSION = 0x4a52_7301;
    private static final int IMMEDIATE_FEATURE = 1;
    private static final int EXTENSION_BYTES = 8;

    /// Reads what the peer has sent.
    ///
    /// @param bytes perhaps padded with zeros
    /// @throws ProtocolException if this is no rsocket, or one that this version does not understand
    static ConnectionData parse(byte[] bytes) throws ProtocolException {
        if (bytes.length < BYTES) {
            throw new ProtocolException("the peer is no rsocket: it sent " + bytes.length
                    + " bytes of private data instead of " + BYTES + "; run an rsocket program at both ends");
        }
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        int version = buffer.get();
        if (version != VERSION) {
            throw new ProtocolException(
                    "the peer is no rsocket of version " + VERSION + ": it sent version " + (version & 0xff));
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
        // Behind the 40 bytes, wherever the buffer stands.
        return buffer.capacity() >= BYTES + EXTENSION_BYTES
                && buffer.getInt(BYTES) == EXTENSION
                && (buffer.getInt(BYTES + Integer.BYTES) & IMMEDIATE_FEATURE) != 0;
    }

    private void check() throws ProtocolException {
        if (credits == 0 || targetCount < LEAST_TARGETS || dataLength < 1 || dataLength > Message.MAX_DATA) {
            throw new ProtocolException("the peer offers " + credits + " messages, " + targetCount + " targets and "
                    + dataLength + " bytes; a stream needs at least one message, two targets, and 1 to "
                    + Message.MAX_DATA + " bytes");
        }
    }

    /// Where the peer has its table of mappings.
    long table() {
        return targets + (long) ConnectionMemory.TARGET_BYTES * targetCount;
    }

    /// The private data, with the extension if there is `room` bytes for it.
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
