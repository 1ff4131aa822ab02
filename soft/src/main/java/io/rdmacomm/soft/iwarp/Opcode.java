package io.rdmacomm.soft.iwarp;

/// The RDMAP opcodes, and the meaning of each for the header of a segment (RFC 5040 4.2, RFC 7306 4). Plain
/// numbers, because every segment is looked up here.
public final class Opcode {
    /// RDMA Write.
    public static final int WRITE = 0;
    /// RDMA Read Request.
    public static final int READ_REQUEST = 1;
    /// RDMA Read Response.
    public static final int READ_RESPONSE = 2;
    /// Send.
    public static final int SEND = 3;
    /// Send with Invalidate.
    public static final int SEND_INVALIDATE = 4;
    /// Send with Solicited Event.
    public static final int SEND_SOLICITED = 5;
    /// Send with Solicited Event and Invalidate.
    public static final int SEND_SOLICITED_INVALIDATE = 6;
    /// Terminate.
    public static final int TERMINATE = 7;
    /// Immediate Data (RFC 7306).
    public static final int IMMEDIATE = 8;
    /// Immediate Data with Solicited Event (RFC 7306).
    public static final int IMMEDIATE_SOLICITED = 9;
    /// Atomic Request (RFC 7306).
    public static final int ATOMIC_REQUEST = 10;
    /// Atomic Response (RFC 7306).
    public static final int ATOMIC_RESPONSE = 11;
    /// Send with immediate data: our extension, sent only to a peer whose handshake has
    /// [PeerHandshake#FEATURE_IMMEDIATE].
    public static final int SEND_IMMEDIATE = 12;
    /// [#SEND_IMMEDIATE] with Solicited Event.
    public static final int SEND_SOLICITED_IMMEDIATE = 13;
    /// The progress of the receiver: our extension, sent only to a peer whose handshake has
    /// [PeerHandshake#FEATURE_ACKNOWLEDGE].
    public static final int ACKNOWLEDGE = 14;

    /// The number of queues that untagged messages go to.
    public static final int QUEUES = 5;
    /// Queue of everything that takes a receive.
    public static final int QUEUE_SEND = 0;
    /// Queue of Read and Atomic Requests.
    public static final int QUEUE_REQUEST = 1;
    /// Queue of Terminate.
    public static final int QUEUE_TERMINATE = 2;
    /// Queue of Atomic Responses.
    public static final int QUEUE_ATOMIC_RESPONSE = 3;
    /// Queue of Acknowledge.
    public static final int QUEUE_ACKNOWLEDGE = 4;

    private static final int LARGEST = ACKNOWLEDGE;
    private static final String[] NAMES = {
        "RDMA Write",
        "RDMA Read Request",
        "RDMA Read Response",
        "Send",
        "Send with Invalidate",
        "Send with Solicited Event",
        "Send with Solicited Event and Invalidate",
        "Terminate",
        "Immediate Data",
        "Immediate Data with Solicited Event",
        "Atomic Request",
        "Atomic Response",
        "Send with Immediate",
        "Send with Solicited Event and Immediate",
        "Acknowledge",
    };

    private Opcode() {}

    /// Whether the opcode is in this list.
    public static boolean isKnown(int opcode) {
        return opcode >= 0 && opcode <= LARGEST;
    }

    /// Whether its segments name the memory to place them in.
    public static boolean isTagged(int opcode) {
        return opcode == WRITE || opcode == READ_RESPONSE;
    }

    /// Whether it takes a posted receive and may carry a payload.
    public static boolean isSend(int opcode) {
        return (opcode >= SEND && opcode <= SEND_SOLICITED_INVALIDATE)
                || opcode == SEND_IMMEDIATE
                || opcode == SEND_SOLICITED_IMMEDIATE;
    }

    /// Whether it takes a posted receive.
    public static boolean takesReceive(int opcode) {
        return isSend(opcode) || opcode == IMMEDIATE || opcode == IMMEDIATE_SOLICITED;
    }

    /// Whether it asks the receiver for something: not a response, and not about the stream itself.
    public static boolean isRequest(int opcode) {
        return opcode == WRITE || opcode == READ_REQUEST || opcode == ATOMIC_REQUEST || takesReceive(opcode);
    }

    /// Whether the receiver raises a solicited event.
    public static boolean isSolicited(int opcode) {
        return opcode == SEND_SOLICITED
                || opcode == SEND_SOLICITED_INVALIDATE
                || opcode == IMMEDIATE_SOLICITED
                || opcode == SEND_SOLICITED_IMMEDIATE;
    }

    /// Whether the receiver invalidates the key in the header.
    public static boolean invalidates(int opcode) {
        return opcode == SEND_INVALIDATE || opcode == SEND_SOLICITED_INVALIDATE;
    }

    /// Whether a message may be longer than one segment.
    public static boolean mayHaveSegments(int opcode) {
        return isTagged(opcode) || isSend(opcode);
    }

    /// The queue of an untagged message.
    public static int queue(int opcode) {
        return switch (opcode) {
            case READ_REQUEST, ATOMIC_REQUEST -> QUEUE_REQUEST;
            case TERMINATE -> QUEUE_TERMINATE;
            case ATOMIC_RESPONSE -> QUEUE_ATOMIC_RESPONSE;
            case ACKNOWLEDGE -> QUEUE_ACKNOWLEDGE;
            default -> QUEUE_SEND;
        };
    }

    /// The number of bytes before the payload, from the first byte of the frame; the shortest form of a Terminate.
    public static int headerBytes(int opcode) {
        return switch (opcode) {
            case WRITE, READ_RESPONSE -> FpduLayout.TAGGED_BYTES;
            case READ_REQUEST -> FpduLayout.READ_REQUEST_BYTES;
            case ATOMIC_REQUEST -> FpduLayout.ATOMIC_REQUEST_BYTES;
            case ATOMIC_RESPONSE -> FpduLayout.ATOMIC_RESPONSE_BYTES;
            case IMMEDIATE, IMMEDIATE_SOLICITED -> FpduLayout.IMMEDIATE_BYTES;
            case ACKNOWLEDGE -> FpduLayout.ACKNOWLEDGE_BYTES;
            case TERMINATE -> FpduLayout.TERMINATE_BYTES;
            default -> FpduLayout.UNTAGGED_BYTES;
        };
    }

    /// Its name in messages.
    public static String name(int opcode) {
        return isKnown(opcode) ? NAMES[opcode] : "opcode " + opcode;
    }
}
