package io.rdmacomm.soft.iwarp;

import java.util.Arrays;

/// Checks the order of a connection's segments (RFC 5041 5, RFC 5040 5.5): messages of a queue by number, segments
/// of a message without gaps, no message inside another one of its kind. Writes, Read Responses and Sends are three
/// kinds, each with one message at a time; Read Requests, Atomic Requests and Immediate Data must not come inside a
/// Send. Linux siw is as strict. Not thread-safe.
public final class ReceiveSequence {
    private static final long LONGEST_MESSAGE = 0xffff_ffffL;

    private final int[] expected = new int[Opcode.QUEUES];
    private final Tagged writes = new Tagged();
    private final Tagged responses = new Tagged();
    private boolean terminated;

    private boolean sendOpen;
    private int sendOpcode;
    private int sendKey;
    private long sendDone;

    private long offset;

    /// Expects the first segment.
    public ReceiveSequence() {
        Arrays.fill(expected, 1);
    }

    /// Checks the next segment, whose header is valid.
    ///
    /// @return [Violation#NONE], or why the stream must end
    public Violation accept(SegmentHeader header) {
        if (terminated) {
            return Violation.AFTER_TERMINATE;
        }
        return switch (header.opcode) {
            case Opcode.WRITE -> acceptTagged(writes, header);
            case Opcode.READ_RESPONSE -> acceptTagged(responses, header);
            default -> Opcode.isSend(header.opcode) ? acceptSend(header) : acceptSingle(header);
        };
    }

    /// The offset of the last accepted segment in its message.
    public long offset() {
        return offset;
    }

    /// Whether a message is incomplete: the connection must not end here.
    public boolean isInsideMessage() {
        return writes.open || responses.open || sendOpen;
    }

    private Violation acceptTagged(Tagged message, SegmentHeader header) {
        long before = message.done();
        Violation violation = message.accept(header);
        offset = before;
        return violation;
    }

    private Violation acceptSend(SegmentHeader header) {
        if (!sendOpen) {
            sendOpcode = header.opcode;
            sendKey = header.key;
            sendDone = 0;
        } else if (header.opcode != sendOpcode || header.key != sendKey) {
            return Violation.INTERLEAVED;
        }
        if (header.messageNumber != expected[Opcode.QUEUE_SEND]) {
            return Violation.MESSAGE_NUMBER;
        }
        if (Integer.toUnsignedLong(header.messageOffset) != sendDone) {
            return Violation.MESSAGE_OFFSET;
        }
        offset = sendDone;
        sendDone += header.payloadBytes;
        sendOpen = !header.last;
        if (header.last) {
            expected[Opcode.QUEUE_SEND]++;
        }
        return Violation.NONE;
    }

    private Violation acceptSingle(SegmentHeader header) {
        if (sendOpen && Opcode.isRequest(header.opcode)) {
            return Violation.INTERLEAVED;
        }
        int queue = Opcode.queue(header.opcode);
        if (header.messageNumber != expected[queue]) {
            return Violation.MESSAGE_NUMBER;
        }
        offset = 0;
        expected[queue]++;
        terminated = header.opcode == Opcode.TERMINATE;
        return Violation.NONE;
    }

    /// The tagged message in progress, if any.
    private static final class Tagged {
        private boolean open;
        private int key;
        private long next;
        private long done;

        long done() {
            return open ? done : 0;
        }

        Violation accept(SegmentHeader header) {
            if (!open) {
                key = header.key;
                next = header.address;
                done = 0;
            } else if (header.key != key || header.address != next) {
                return Violation.TAGGED_CONTINUATION;
            }
            done += header.payloadBytes;
            next += header.payloadBytes;
            open = !header.last;
            return done > LONGEST_MESSAGE ? Violation.MESSAGE_TOO_LONG : Violation.NONE;
        }
    }
}
