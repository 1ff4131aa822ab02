package io.rdmacomm.soft.tcp;

import io.rdmacomm.soft.execution.PayloadPlacement;
import io.rdmacomm.soft.iwarp.Acknowledgement;
import io.rdmacomm.soft.iwarp.AtomicResponse;
import io.rdmacomm.soft.iwarp.Opcode;
import io.rdmacomm.soft.iwarp.PeerHandshake;
import io.rdmacomm.soft.iwarp.ReceiveSequence;
import io.rdmacomm.soft.iwarp.SegmentHeader;
import io.rdmacomm.soft.iwarp.TerminateMessage;
import io.rdmacomm.soft.iwarp.Violation;
import io.rdmacomm.soft.transport.RetryTimer;
import io.rdmacomm.verbs.WorkStatus;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/// Dispatches incoming messages of a link: requests of the peer go to the responder, its responses and
/// acknowledgements to the requests that were sent. Also keeps what the peer has reported about the link
/// itself. Under the queue pair's send lock.
final class LinkReceiver implements FrameInput.Receiver {
    private final RetryTimer retries;
    private final LinkTerms terms;
    private final LinkRequester requester;
    private final SentRequests sent;
    private final AwaitedResponses responses;
    private final LinkResponder responder;
    private final ReceiveSequence sequence;
    private final Acknowledgement acknowledgement = new Acknowledgement();
    private final TerminateMessage terminate = new TerminateMessage();

    private int incoming;
    private PayloadPlacement placement;
    private int atomicIdentifier;
    private long atomicOriginal;
    private long bytes;
    private boolean spoken;
    private boolean stopped;
    private boolean closedByPeer;
    private boolean terminated;
    private int notReadyTimer = -1;

    LinkReceiver(RetryTimer retries, LinkTerms terms, LinkRequester requester, LinkResponder responder) {
        this.retries = retries;
        this.terms = terms;
        this.requester = requester;
        this.sent = requester.sent();
        this.responses = requester.responses();
        this.responder = responder;
        this.sequence = responder.sequence();
        this.placement = responses.placement();
    }

    /// Starts to count payload from zero.
    void resetBytes() {
        bytes = 0;
    }

    /// How much payload has arrived since [#resetBytes].
    long bytes() {
        return bytes;
    }

    /// Whether the peer has sent anything.
    boolean hasSpoken() {
        return spoken;
    }

    /// Whether a message has begun and not ended.
    boolean isInsideMessage() {
        return sequence.isInsideMessage();
    }

    /// Whether nothing more is to be read from the peer.
    boolean isOver() {
        return stopped || closedByPeer || terminated;
    }

    /// Whether the peer has closed its queue pair in an orderly way.
    boolean isClosedByPeer() {
        return closedByPeer;
    }

    /// Why the peer has terminated the connection, in words; null if it has not.
    @Nullable
    String termination() {
        return terminated ? terminate.toString() : null;
    }

    /// The timer code if the peer had no receive for a message, else -1; resets it.
    int takeNotReadyTimer() {
        int timer = notReadyTimer;
        notReadyTimer = -1;
        return timer;
    }

    @Override
    public int begin(SegmentHeader segment, ByteBuffer from, int at) {
        incoming = segment.opcode;
        spoken = true;
        placement = incoming == Opcode.READ_RESPONSE ? responses.placement() : responder.placement(incoming);
        return switch (incoming) {
            case Opcode.READ_RESPONSE -> accept(segment) ? check(responses.beginRead(segment)) : FrameInput.STOP;
            case Opcode.ATOMIC_RESPONSE -> {
                atomicIdentifier = AtomicResponse.identifier(from, at);
                atomicOriginal = AtomicResponse.original(from, at);
                yield accept(segment) ? FrameInput.PLACE : FrameInput.STOP;
            }
            case Opcode.ACKNOWLEDGE -> {
                boolean agreed = terms.acknowledges() && accept(segment);
                yield agreed ? check(acknowledgement.decode(from, at)) : check(Violation.NOT_NEGOTIATED);
            }
            case Opcode.TERMINATE -> {
                terminate.decode(from, at, segment.payloadBytes);
                terminated = true;
                sent.refuse(terminate.code.workStatus().code(), terminate.raw);
                yield FrameInput.STOP;
            }
            default -> isAgreed() ? responder.begin(segment, from, at) : check(Violation.NOT_NEGOTIATED);
        };
    }

    private boolean isAgreed() {
        return switch (incoming) {
            case Opcode.IMMEDIATE, Opcode.IMMEDIATE_SOLICITED, Opcode.SEND_IMMEDIATE, Opcode.SEND_SOLICITED_IMMEDIATE ->
                terms.has(PeerHandshake.FEATURE_IMMEDIATE);
            case Opcode.ATOMIC_REQUEST -> terms.has(PeerHandshake.FEATURE_ATOMIC);
            default -> true;
        };
    }

    private boolean accept(SegmentHeader segment) {
        return check(sequence.accept(segment)) == FrameInput.PLACE;
    }

    private int check(Violation violation) {
        if (violation == Violation.NONE) {
            return FrameInput.PLACE;
        }
        responder.violated(violation);
        return FrameInput.STOP;
    }

    @Override
    public boolean place(MemorySegment from, long offset, int count) {
        bytes += count;
        return placement.copy(from, offset, count) || lostMemory();
    }

    @Override
    public @Nullable ByteBuffer target(int count) {
        ByteBuffer target = placement.target(count);
        if (target == null) {
            lostMemory();
        }
        return target;
    }

    @Override
    public void placed(int count) {
        bytes += count;
        placement.advance(count);
    }

    private boolean lostMemory() {
        if (incoming == Opcode.READ_RESPONSE) {
            responses.lostMemory();
            stopped = true;
        } else {
            responder.lostMemory(incoming);
        }
        return false;
    }

    @Override
    public boolean end(SegmentHeader segment) {
        return switch (segment.opcode) {
            case Opcode.READ_RESPONSE -> {
                responses.endRead(segment);
                yield true;
            }
            case Opcode.ATOMIC_RESPONSE ->
                check(responses.atomic(atomicIdentifier, atomicOriginal)) == FrameInput.PLACE;
            case Opcode.ACKNOWLEDGE -> acknowledged();
            default -> responder.end(segment);
        };
    }

    private boolean acknowledged() {
        int before = sent.acknowledged();
        if (!sent.acknowledge(acknowledgement.count)) {
            return check(Violation.ACKNOWLEDGEMENT) == FrameInput.PLACE;
        }
        if (acknowledgement.count != before) {
            retries.progressed();
        }
        switch (acknowledgement.syndrome) {
            case Acknowledgement.DONE -> {
                return true;
            }
            case Acknowledgement.RECEIVER_NOT_READY -> {
                if (!requester.goBack()) {
                    return check(Violation.ACKNOWLEDGEMENT) == FrameInput.PLACE;
                }
                notReadyTimer = acknowledgement.rnrTimer;
                return true;
            }
            case Acknowledgement.CLOSED -> closedByPeer = true;
            default -> {
                sent.refuse(status(acknowledgement.syndrome), 0);
                stopped = true;
            }
        }
        return false;
    }

    private static int status(int syndrome) {
        return switch (syndrome) {
            case Acknowledgement.INVALID_REQUEST -> WorkStatus.REMOTE_INVALID_REQUEST.code();
            case Acknowledgement.ACCESS_ERROR -> WorkStatus.REMOTE_ACCESS_ERROR.code();
            default -> WorkStatus.REMOTE_OPERATION_ERROR.code();
        };
    }

    /// Releases all memory.
    void release() {
        responses.placement().release();
        responder.release();
    }

    @Override
    public void violation(Violation violation) {
        responder.violated(violation);
    }
}
