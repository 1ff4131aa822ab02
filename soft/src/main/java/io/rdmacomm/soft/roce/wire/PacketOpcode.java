package io.rdmacomm.soft.roce.wire;

/// The opcodes of packets (IBTA 9.2.1): the upper three bits name the transport, the lower five the operation.
public final class PacketOpcode {
    /// The transport of reliable connections.
    public static final int RELIABLE = 0x00;
    /// The transport of unreliable connections.
    public static final int UNRELIABLE = 0x20;
    /// The transport of datagrams.
    public static final int DATAGRAM = 0x60;
    /// A congestion notification (IBTA A17.9).
    public static final int CONGESTION = 0x81;

    public static final int SEND_FIRST = 0x00;
    public static final int SEND_MIDDLE = 0x01;
    public static final int SEND_LAST = 0x02;
    public static final int SEND_LAST_IMMEDIATE = 0x03;
    public static final int SEND_ONLY = 0x04;
    public static final int SEND_ONLY_IMMEDIATE = 0x05;
    public static final int WRITE_FIRST = 0x06;
    public static final int WRITE_MIDDLE = 0x07;
    public static final int WRITE_LAST = 0x08;
    public static final int WRITE_LAST_IMMEDIATE = 0x09;
    public static final int WRITE_ONLY = 0x0a;
    public static final int WRITE_ONLY_IMMEDIATE = 0x0b;
    public static final int READ_REQUEST = 0x0c;
    public static final int READ_RESPONSE_FIRST = 0x0d;
    public static final int READ_RESPONSE_MIDDLE = 0x0e;
    public static final int READ_RESPONSE_LAST = 0x0f;
    public static final int READ_RESPONSE_ONLY = 0x10;
    public static final int ACKNOWLEDGE = 0x11;
    public static final int ATOMIC_ACKNOWLEDGE = 0x12;
    public static final int COMPARE_AND_SWAP = 0x13;
    public static final int FETCH_AND_ADD = 0x14;
    public static final int SEND_LAST_INVALIDATE = 0x16;
    public static final int SEND_ONLY_INVALIDATE = 0x17;

    private static final int OPERATION = 0x1f;
    private static final int TRANSPORT = 0xe0;
    private static final int OPCODES = 256;

    // Traits of packets. Each known opcode has at least one.
    private static final int REMOTE = 0x01;
    private static final int ACK = 0x02;
    private static final int ATOMIC = 0x04;
    private static final int ORIGINAL = 0x08;
    private static final int IMMEDIATE = 0x10;
    private static final int INVALIDATE = 0x20;
    private static final int FIRST = 0x40;
    private static final int LAST = 0x80;
    private static final int PAYLOAD = 0x100;
    private static final int SEND = 0x200 | PAYLOAD;
    private static final int WRITE = 0x400 | PAYLOAD;
    private static final int READ_RESPONSE = 0x800 | PAYLOAD;
    private static final int NOTIFICATION = 0x1000;
    private static final int ONLY = FIRST | LAST;

    private static final int[] TRAITS = new int[OPCODES];

    static {
        TRAITS[SEND_FIRST] = SEND | FIRST;
        TRAITS[SEND_MIDDLE] = SEND;
        TRAITS[SEND_LAST] = SEND | LAST;
        TRAITS[SEND_LAST_IMMEDIATE] = SEND | LAST | IMMEDIATE;
        TRAITS[SEND_ONLY] = SEND | ONLY;
        TRAITS[SEND_ONLY_IMMEDIATE] = SEND | ONLY | IMMEDIATE;
        TRAITS[WRITE_FIRST] = WRITE | FIRST | REMOTE;
        TRAITS[WRITE_MIDDLE] = WRITE;
        TRAITS[WRITE_LAST] = WRITE | LAST;
        TRAITS[WRITE_LAST_IMMEDIATE] = WRITE | LAST | IMMEDIATE;
        TRAITS[WRITE_ONLY] = WRITE | ONLY | REMOTE;
        TRAITS[WRITE_ONLY_IMMEDIATE] = WRITE | ONLY | REMOTE | IMMEDIATE;
        TRAITS[READ_REQUEST] = ONLY | REMOTE;
        TRAITS[READ_RESPONSE_FIRST] = READ_RESPONSE | FIRST | ACK;
        TRAITS[READ_RESPONSE_MIDDLE] = READ_RESPONSE;
        TRAITS[READ_RESPONSE_LAST] = READ_RESPONSE | LAST | ACK;
        TRAITS[READ_RESPONSE_ONLY] = READ_RESPONSE | ONLY | ACK;
        TRAITS[ACKNOWLEDGE] = ONLY | ACK;
        TRAITS[ATOMIC_ACKNOWLEDGE] = ONLY | ACK | ORIGINAL;
        TRAITS[COMPARE_AND_SWAP] = ONLY | ATOMIC;
        TRAITS[FETCH_AND_ADD] = ONLY | ATOMIC;
        TRAITS[SEND_LAST_INVALIDATE] = SEND | LAST | INVALIDATE;
        TRAITS[SEND_ONLY_INVALIDATE] = SEND | ONLY | INVALIDATE;
        // The other transports have some of these operations.
        System.arraycopy(TRAITS, SEND_FIRST, TRAITS, UNRELIABLE | SEND_FIRST, WRITE_ONLY_IMMEDIATE + 1);
        TRAITS[DATAGRAM | SEND_ONLY] = TRAITS[SEND_ONLY];
        TRAITS[DATAGRAM | SEND_ONLY_IMMEDIATE] = TRAITS[SEND_ONLY_IMMEDIATE];
        TRAITS[CONGESTION] = NOTIFICATION;
    }

    private PacketOpcode() {}

    /// Whether packets with this opcode, 0 to 255, are supported here.
    public static boolean isKnown(int opcode) {
        return TRAITS[opcode] != 0;
    }

    /// Its transport: [#RELIABLE], [#UNRELIABLE], [#DATAGRAM], or another one.
    public static int transport(int opcode) {
        return opcode & TRANSPORT;
    }

    /// Its operation, as the opcode of a reliable connection.
    public static int operation(int opcode) {
        return opcode & OPERATION;
    }

    private static boolean has(int opcode, int trait) {
        return (TRAITS[opcode] & trait) == trait;
    }

    /// Whether an RDMA extended header names remote memory.
    public static boolean hasRemote(int opcode) {
        return has(opcode, REMOTE);
    }

    /// Whether it has an acknowledgement extended header.
    public static boolean hasAcknowledgement(int opcode) {
        return has(opcode, ACK);
    }

    /// Whether it has an atomic extended header.
    public static boolean hasAtomic(int opcode) {
        return has(opcode, ATOMIC);
    }

    /// Whether it carries the old value of an atomic operation.
    public static boolean hasOriginal(int opcode) {
        return has(opcode, ORIGINAL);
    }

    /// Whether it has immediate data.
    public static boolean hasImmediate(int opcode) {
        return has(opcode, IMMEDIATE);
    }

    /// Whether it names a key to invalidate.
    public static boolean hasInvalidate(int opcode) {
        return has(opcode, INVALIDATE);
    }

    /// Whether it may have a payload.
    public static boolean hasPayload(int opcode) {
        return has(opcode, PAYLOAD);
    }

    /// Whether it is the first or the only packet of its message.
    public static boolean isFirst(int opcode) {
        return has(opcode, FIRST);
    }

    /// Whether it is the last or the only packet of its message.
    public static boolean isLast(int opcode) {
        return has(opcode, LAST);
    }

    /// Whether it belongs to a SEND.
    public static boolean isSend(int opcode) {
        return has(opcode, SEND);
    }

    /// Whether it belongs to a WRITE.
    public static boolean isWrite(int opcode) {
        return has(opcode, WRITE);
    }

    /// Whether it answers a request of the receiver.
    public static boolean isResponse(int opcode) {
        return has(opcode, ACK) || has(opcode, READ_RESPONSE);
    }

    /// Whether it belongs to the response to a READ.
    public static boolean isReadResponse(int opcode) {
        return has(opcode, READ_RESPONSE);
    }
}
