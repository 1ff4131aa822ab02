package io.rdmacomm.soft.roce.wire;

import java.nio.ByteBuffer;

/// The headers of one packet: one reusable object for each direction. Buffers are big-endian and accessed by
/// absolute index; their position is ignored and unchanged. Fields of headers that a packet does not have keep old
/// values.
public final class Packet {
    /// The longest message (IBTA 9.7.6).
    public static final long MOST_MESSAGE_BYTES = 1L << 31;
    /// The length of the base transport header.
    public static final int BASE_BYTES = 12;
    /// The length of the invariant CRC at the end.
    public static final int CHECKSUM_BYTES = 4;
    /// The most bytes that headers and CRC add to a payload; packets without payload are not longer than the
    /// smallest path MTU.
    public static final int MOST_OVERHEAD = 36;

    private static final int SOLICITED = 0x80;
    private static final int MIGRATED = 0x40;
    private static final int PAD_SHIFT = 4;
    private static final int PAD_MASK = 3;
    /// The length of a packet, and of each header, is a multiple of this.
    private static final int WORD_BYTES = 4;
    private static final int VERSION_MASK = 0x0f;
    private static final int DEFAULT_PARTITION = 0xffff;
    private static final int PARTITION_NUMBER = 0x7fff;
    private static final int ACKNOWLEDGE = 0x8000_0000;
    private static final int BACKWARD = 0x4000_0000;
    private static final int REMOTE_BYTES = 16;
    private static final int ATOMIC_BYTES = 28;
    private static final int DATAGRAM_BYTES = 8;
    /// A congestion notification ends with zeros.
    private static final int CONGESTION_BYTES = 16;
    private static final int SYNDROME_SHIFT = 24;

    /// Of [PacketOpcode].
    public int opcode;
    /// Whether the receiver's completion is a solicited event.
    public boolean solicited;
    /// Whether the sender's path is in the migrated state, as for every adapter; rxe says no.
    public boolean migrated = true;
    /// Whether the receiver of the packet sends too fast: a congestion notification.
    public boolean backward;
    /// The number of the queue pair that receives the packet.
    public int destination;
    /// Whether the sender wants an answer.
    public boolean wantsAnswer;
    /// The packet sequence number.
    public int psn;
    /// RDMA and atomic header: the address of remote memory.
    public long address;
    /// RDMA and atomic header: its key.
    public int key;
    /// RDMA header: the length of the whole message, unsigned.
    public int length;
    /// Acknowledgement: of [Syndrome].
    public int syndrome;
    /// Acknowledgement: the number of messages that the responder has completed, modulo 2^24.
    public int messages;
    /// Atomic header: the value to store, or to add.
    public long operand;
    /// Atomic header: the value to compare with.
    public long compare;
    /// The old value of an atomic operation.
    public long original;
    /// Immediate data, or the key to invalidate.
    public int immediate;
    /// Datagram header: the queue key.
    public int queueKey;
    /// Datagram header: the number of the queue pair that has sent it.
    public int source;
    /// The offset of the payload.
    public int payloadAt;
    /// The number of bytes of payload, without the pad.
    public int payloadBytes;

    /// Nothing yet.
    public Packet() {}

    /// Reads the headers.
    ///
    /// @param at where the packet begins
    /// @param bytes its length with the CRC
    public PacketFault decode(ByteBuffer from, int at, int bytes) {
        if (bytes < BASE_BYTES + CHECKSUM_BYTES) {
            return PacketFault.TOO_SHORT;
        }
        opcode = from.get(at) & 0xff;
        int flags = from.get(at + 1) & 0xff;
        if ((flags & VERSION_MASK) != 0) {
            return PacketFault.VERSION;
        }
        if (!PacketOpcode.isKnown(opcode)) {
            return PacketFault.OPCODE;
        }
        if ((from.getShort(at + 2) & PARTITION_NUMBER) != PARTITION_NUMBER) {
            return PacketFault.PARTITION_KEY;
        }
        solicited = (flags & SOLICITED) != 0;
        migrated = (flags & MIGRATED) != 0;
        int third = from.getInt(at + 4);
        backward = (third & BACKWARD) != 0;
        destination = third & Psn.MASK;
        int fourth = from.getInt(at + 8);
        wantsAnswer = (fourth & ACKNOWLEDGE) != 0;
        psn = fourth & Psn.MASK;
        int headers = extendedBytes(opcode);
        int pad = flags >>> PAD_SHIFT & PAD_MASK;
        int payload = bytes - BASE_BYTES - headers - pad - CHECKSUM_BYTES;
        if (payload < 0) {
            return PacketFault.TOO_SHORT;
        }
        if (bytes % WORD_BYTES != 0) {
            return PacketFault.PADDING;
        }
        if (payload != 0 && !PacketOpcode.hasPayload(opcode)) {
            return PacketFault.PAYLOAD;
        }
        payloadAt = at + BASE_BYTES + headers;
        payloadBytes = payload;
        decodeExtended(from, at + BASE_BYTES);
        return PacketFault.NONE;
    }

    private void decodeExtended(ByteBuffer from, int start) {
        int at = start;
        if (PacketOpcode.transport(opcode) == PacketOpcode.DATAGRAM) {
            queueKey = from.getInt(at);
            source = from.getInt(at + 4) & Psn.MASK;
            at += DATAGRAM_BYTES;
        }
        if (PacketOpcode.hasRemote(opcode)) {
            address = from.getLong(at);
            key = from.getInt(at + 8);
            length = from.getInt(at + 12);
            at += REMOTE_BYTES;
        }
        if (PacketOpcode.hasAtomic(opcode)) {
            address = from.getLong(at);
            key = from.getInt(at + 8);
            operand = from.getLong(at + 12);
            compare = from.getLong(at + 20);
        }
        if (PacketOpcode.hasAcknowledgement(opcode)) {
            int word = from.getInt(at);
            syndrome = word >>> SYNDROME_SHIFT;
            messages = word & Psn.MASK;
            at += 4;
        }
        if (PacketOpcode.hasOriginal(opcode)) {
            original = from.getLong(at);
        }
        if (PacketOpcode.hasImmediate(opcode) || PacketOpcode.hasInvalidate(opcode)) {
            immediate = from.getInt(at);
        }
    }

    /// Writes the headers.
    ///
    /// @param at where the packet begins
    /// @param bytes of payload
    /// @return where the payload begins
    public int encode(ByteBuffer to, int at, int bytes) {
        int pad = pad(bytes);
        int flags = (solicited ? SOLICITED : 0) | (migrated ? MIGRATED : 0) | pad << PAD_SHIFT;
        to.put(at, (byte) opcode);
        to.put(at + 1, (byte) flags);
        to.putShort(at + 2, (short) DEFAULT_PARTITION);
        to.putInt(at + 4, (backward ? BACKWARD : 0) | destination);
        to.putInt(at + 8, (wantsAnswer ? ACKNOWLEDGE : 0) | psn);
        payloadBytes = bytes;
        payloadAt = encodeExtended(to, at + BASE_BYTES);
        return payloadAt;
    }

    private int encodeExtended(ByteBuffer to, int start) {
        int at = start;
        if (PacketOpcode.transport(opcode) == PacketOpcode.DATAGRAM) {
            to.putInt(at, queueKey);
            to.putInt(at + 4, source);
            at += DATAGRAM_BYTES;
        }
        if (PacketOpcode.hasRemote(opcode)) {
            to.putLong(at, address);
            to.putInt(at + 8, key);
            to.putInt(at + 12, length);
            at += REMOTE_BYTES;
        }
        if (PacketOpcode.hasAtomic(opcode)) {
            to.putLong(at, address);
            to.putInt(at + 8, key);
            to.putLong(at + 12, operand);
            to.putLong(at + 20, compare);
            at += ATOMIC_BYTES;
        }
        if (PacketOpcode.hasAcknowledgement(opcode)) {
            to.putInt(at, syndrome << SYNDROME_SHIFT | (messages & Psn.MASK));
            at += 4;
        }
        if (PacketOpcode.hasOriginal(opcode)) {
            to.putLong(at, original);
            at += 8;
        }
        if (PacketOpcode.hasImmediate(opcode) || PacketOpcode.hasInvalidate(opcode)) {
            to.putInt(at, immediate);
            at += 4;
        }
        if (opcode == PacketOpcode.CONGESTION) {
            to.putLong(at, 0);
            to.putLong(at + 8, 0);
            at += CONGESTION_BYTES;
        }
        return at;
    }

    /// The offset of the payload in a packet at 0 with this opcode.
    public static int payloadAt(int opcode) {
        return BASE_BYTES + extendedBytes(opcode);
    }

    /// Ends a packet whose payload is in the buffer: pads it with zeros to a multiple of 4.
    ///
    /// @return where the CRC goes
    public int pad(ByteBuffer to) {
        int end = payloadAt + payloadBytes;
        for (int left = pad(payloadBytes); left > 0; left--) {
            to.put(end, (byte) 0);
            end++;
        }
        return end;
    }

    /// The length of the packet with its CRC.
    public int bytes() {
        return bytes(opcode, payloadBytes);
    }

    /// The length of a packet with this opcode and this many bytes of payload, including its CRC.
    public static int bytes(int opcode, int payload) {
        return payloadAt(opcode) + payload + pad(payload) + CHECKSUM_BYTES;
    }

    private static int pad(int bytes) {
        return -bytes & PAD_MASK;
    }

    private static int extendedBytes(int opcode) {
        return (PacketOpcode.transport(opcode) == PacketOpcode.DATAGRAM ? DATAGRAM_BYTES : 0)
                + (PacketOpcode.hasRemote(opcode) ? REMOTE_BYTES : 0)
                + (PacketOpcode.hasAtomic(opcode) ? ATOMIC_BYTES : 0)
                + (PacketOpcode.hasAcknowledgement(opcode) ? 4 : 0)
                + (PacketOpcode.hasOriginal(opcode) ? 8 : 0)
                + (PacketOpcode.hasImmediate(opcode) || PacketOpcode.hasInvalidate(opcode) ? 4 : 0)
                + (opcode == PacketOpcode.CONGESTION ? CONGESTION_BYTES : 0);
    }
}
