package io.rdmacomm.soft;

import io.rdmacomm.soft.iwarp.Acknowledgement;
import io.rdmacomm.soft.iwarp.AtomicResponse;
import io.rdmacomm.soft.iwarp.FrameInput;
import io.rdmacomm.soft.iwarp.FrameOutput;
import io.rdmacomm.soft.iwarp.MessageNumbers;
import io.rdmacomm.soft.iwarp.Opcode;
import io.rdmacomm.soft.iwarp.PeerHandshake;
import io.rdmacomm.soft.iwarp.ReadyToReceive;
import io.rdmacomm.soft.iwarp.ReceiveSequence;
import io.rdmacomm.soft.iwarp.SegmentHeader;
import io.rdmacomm.soft.iwarp.TerminateMessage;
import io.rdmacomm.soft.iwarp.Violation;
import io.rdmacomm.verbs.WorkStatus;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import org.jspecify.annotations.Nullable;

/// A queue pair's TCP connection to its peer, which speaks iWARP. Whoever has the queue pair's send lock drives
/// it: the thread that posts sends, the thread that polls receives and sends, and the engine does what nobody
/// else does. Nothing here blocks, and nothing is allocated once the regions that are used are known.
final class Link implements FrameInput.Receiver {
    /// Of [WorkStatus#RETRY_EXCEEDED]: the TCP connection was lost.
    static final int VENDOR_LOST = 1;
    /// Of [WorkStatus#RETRY_EXCEEDED]: the peer has not answered in time.
    static final int VENDOR_SILENT = 2;

    private static final System.Logger LOGGER = System.getLogger(Link.class.getName());
    private static final int ROUNDS = 4;
    private static final long STREAM_BYTES = 32 * 1024;
    private static final int MANY_UNTOLD = 16;
    private static final long MUCH_UNTOLD = 64 * 1024;
    private static final long PATIENCE_FLOOR_NANOS = 5_000_000_000L;

    private final SoftContext context;
    private final SendQueue owner;
    private final OwnBlock block;
    private final SocketChannel channel;
    private final LinkTerms terms;
    private final Arena arena = Arena.ofShared();
    private final FrameInput input;
    private final FrameOutput output;
    private final FrameOutput.KeyCheck keyCheck;
    private final Placement placement;
    private final LinkRequester requester;
    private final LinkResponder responder;
    private final ReceiveSequence sequence = new ReceiveSequence();
    private final MessageNumbers acknowledgements = new MessageNumbers();
    private final SegmentHeader header = new SegmentHeader();
    private final Acknowledgement sent = new Acknowledgement();
    private final Acknowledgement received = new Acknowledgement();
    private final TerminateMessage terminate = new TerminateMessage();
    private final LinkAttention attention;

    private int incoming;
    private int atomicIdentifier;
    private long atomicOriginal;
    private int told;
    private long untoldBytes;
    private long cameBytes;
    private boolean responsesFirst;
    private boolean silent;
    private boolean refusalTold;
    private boolean ended;
    private boolean closedByPeer;
    private boolean terminated;
    private String loss = "the peer has ended the TCP connection";
    private int notReadyTimer = -1;
    private long lastHeard = System.nanoTime();
    private boolean driving;
    private volatile boolean closed;

    /// Takes over a connection on which everything has been agreed on.
    ///
    /// @param channel not blocking
    Link(SoftQueuePair queuePair, SendQueue owner, SendQueue.Parts parts, SocketChannel channel, LinkTerms terms) {
        this.context = queuePair.context();
        this.owner = owner;
        this.block = parts.block();
        this.channel = channel;
        this.terms = terms;
        this.keyCheck = context::isValid;
        boolean checksum = terms.mpa().checksum();
        this.input = new FrameInput(arena.allocate(FrameInput.memoryBytes(), 64), checksum, this);
        this.output = new FrameOutput(arena.allocate(FrameOutput.memoryBytes(), 64), checksum);
        this.placement = new Placement(context);
        this.requester = new LinkRequester(context, parts.ring(), parts.executor(), placement, terms);
        LocalKeys keys = new LocalKeys(context, parts.domain(), queuePair.number());
        this.responder = new LinkResponder(
                context,
                block,
                queuePair.number(),
                terms,
                keys,
                sequence,
                placement,
                parts.receiveRing(),
                parts.receiveCompletions());
        this.attention = new LinkAttention(this, queuePair);
        // A responder keeps silent until the initiator has spoken, unless both know better (RFC 5044 7.1.2).
        this.silent = !terms.initiator() && !terms.acknowledges();
        ReadyToReceive first = terms.mpa().readyToReceive();
        if (first != ReadyToReceive.NONE) {
            if (!terms.initiator()) {
                responder.expectReadyToReceive();
            } else if (first == ReadyToReceive.WRITE) {
                requester.announceWrite(output);
            } else {
                requester.announceRead(output);
            }
        }
    }

    SocketChannel channel() {
        return channel;
    }

    LinkAttention attention() {
        return attention;
    }

    boolean isClosed() {
        return closed;
    }

    /// Whether nothing is left to be done for it until something comes in.
    boolean isQuiet() {
        return output.isEmpty() && !isUntold();
    }

    /// Whether frames wait for the socket.
    boolean isBlocked() {
        return !output.isEmpty();
    }

    /// Whether the last [#drive] has brought so much that more of it is likely to be on its way.
    boolean isStreaming() {
        return cameBytes >= STREAM_BYTES;
    }

    /// Whether requests were sent that have not ended.
    boolean isWaiting() {
        return requester.isWaiting();
    }

    // ---- Driving; under the queue pair's send lock ----

    /// Sends what was posted.
    void transmit() {
        if (!enter()) {
            return;
        }
        try {
            if (isSendable()) {
                send(false);
                finish();
            }
        } catch (IOException | RuntimeException e) {
            lost(e);
        } finally {
            leave();
        }
    }

    /// Receives what has come, and sends what can be sent.
    ///
    /// @param prompt whether the peer is told at once what was carried out; otherwise with the next message, or
    /// the next time that nothing comes
    /// @return whether anything has come
    boolean drive(boolean prompt) {
        if (!enter()) {
            return false;
        }
        cameBytes = 0;
        try {
            int got = isOver() || responder.refusal() != null ? FrameInput.IDLE : input.read(channel);
            if (got == FrameInput.END) {
                ended = true;
            } else if (got == FrameInput.PROGRESS) {
                lastHeard = System.nanoTime();
            }
            if (isOver()) {
                finish();
            } else if (isSendable()) {
                send(prompt || got == FrameInput.IDLE);
                finish();
            }
            return got != FrameInput.IDLE;
        } catch (IOException | RuntimeException e) {
            lost(e);
            return true;
        } finally {
            leave();
        }
    }

    /// The time to hold back is over.
    void release() {
        requester.release();
        drive(true);
    }

    /// Whether the peer says nothing more, and hears nothing more.
    private boolean isOver() {
        return ended || closedByPeer || terminated;
    }

    private boolean enter() {
        if (closed || driving) {
            return false;
        }
        driving = true;
        block.beginExecuting();
        return true;
    }

    private void leave() {
        block.endExecuting();
        driving = false;
        if (closed) {
            arena.close();
        }
    }

    /// Memory that waits to be sent may have been deregistered since.
    private boolean isSendable() {
        if (output.isEmpty() || output.isValid(keyCheck)) {
            return true;
        }
        owner.linkLost(this, WorkStatus.LOCAL_PROTECTION_ERROR, 0, "memory was deregistered while it was being sent");
        return false;
    }

    private void send(boolean prompt) throws IOException {
        requester.settle();
        boolean tell = prompt || responder.executed() - told >= MANY_UNTOLD || untoldBytes >= MUCH_UNTOLD;
        for (int round = 0; round < ROUNDS; round++) {
            fill(tell);
            if (output.isEmpty()) {
                return;
            }
            if (!output.flush(channel)) {
                attention.wanted();
                return;
            }
            requester.allWritten();
            requester.settle();
        }
        attention.wanted();
    }

    private void fill(boolean tell) {
        boolean refusing = responder.refusal() != null;
        boolean some = !output.isEmpty();
        while (!silent && output.hasRoom() && writeFrame(refusing)) {
            some = true;
        }
        if (refusing) {
            tellRefusal();
        } else if (terms.acknowledges()) {
            tellExecuted(tell || some);
        }
    }

    private boolean writeFrame(boolean refusing) {
        OwedResponses responses = responder.responses();
        if (refusing || responses.isInside()) {
            return responses.writeFrame(output);
        }
        if (requester.isInside()) {
            return requester.writeFrame(output, false);
        }
        responsesFirst = !responsesFirst;
        boolean maySend = owner.maySend();
        return responsesFirst
                ? responses.writeFrame(output) || requester.writeFrame(output, maySend)
                : requester.writeFrame(output, maySend) || responses.writeFrame(output);
    }

    private boolean isUntold() {
        return terms.acknowledges() && responder.executed() != told;
    }

    private void tellExecuted(boolean tell) {
        if (!output.hasRoom()) {
            return;
        }
        if (responder.takeNotReady()) {
            acknowledge(Acknowledgement.RECEIVER_NOT_READY, block.rnrTimer());
        } else if (tell && isUntold()) {
            acknowledge(Acknowledgement.DONE, 0);
        }
    }

    private void tellRefusal() {
        LinkResponder.Refusal why = responder.refusal();
        if (why == null || refusalTold || !output.hasRoom()) {
            return;
        }
        refusalTold = true;
        if (terms.acknowledges()) {
            acknowledge(why.syndrome(), 0);
        } else {
            output.terminate(header, why.code());
        }
    }

    private void acknowledge(int syndrome, int timer) {
        sent.count = responder.executed();
        sent.syndrome = syndrome;
        sent.rnrTimer = timer;
        header.setUntagged(Opcode.ACKNOWLEDGE, acknowledgements.take(Opcode.ACKNOWLEDGE));
        sent.encode(output.headers(), output.begin(header));
        output.end();
        told = sent.count;
        untoldBytes = 0;
    }

    /// Draws the consequences, which may close the link.
    private void finish() {
        if (notReadyTimer >= 0) {
            int failure = owner.linkNotReady(notReadyTimer);
            notReadyTimer = -1;
            if (failure != RequestExecutor.DONE) {
                requester.stopHeld(failure);
            }
        }
        LinkResponder.Refusal refusal = responder.refusal();
        if (requester.settle()) {
            owner.linkFailed(requester.failure(), requester.vendorError(), terminated ? terminate.toString() : null);
        } else if (closedByPeer && !responder.isInsideReceive()) {
            owner.linkClosed(this);
        } else if (refusal != null) {
            if (isOver() || (refusalTold && output.isEmpty())) {
                LOGGER.log(System.Logger.Level.DEBUG, "{0}: refused a request: {1}", this, refusal.code());
                owner.linkRefused(refusal.event());
            }
        } else if (isOver()) {
            boolean orderly = !terms.acknowledges() && input.isBetweenFrames() && !sequence.isInsideMessage();
            owner.linkLost(
                    this,
                    orderly || terminated ? WorkStatus.FLUSHED : WorkStatus.RETRY_EXCEEDED,
                    VENDOR_LOST,
                    terminated ? terminate.toString() : loss);
        } else {
            owner.linkSettled();
        }
    }

    /// The connection has failed. What the peer said before that still counts: it may be why.
    private void lost(Exception e) {
        if (closed) {
            return;
        }
        loss = e.toString();
        try {
            if (!isOver() && e instanceof IOException && responder.refusal() == null) {
                input.read(channel);
            }
        } catch (IOException | RuntimeException again) {
            LOGGER.log(System.Logger.Level.TRACE, "nothing more can be read", again);
        }
        ended = true;
        finish();
    }

    /// Nothing is expected of the peer now; the engine.
    void touch(long now) {
        lastHeard = now;
    }

    /// Gives the peer up if it has not answered for too long; the engine, with the send lock.
    ///
    /// @param patienceNanos how long requests are repeated
    void checkTime(long now, long patienceNanos) {
        boolean owes = requester.isWaiting() || isBlocked();
        if (!owes) {
            lastHeard = now;
        } else if (!closed && now - lastHeard > Math.max(patienceNanos, PATIENCE_FLOOR_NANOS)) {
            owner.linkLost(this, WorkStatus.RETRY_EXCEEDED, VENDOR_SILENT, "the peer does not answer");
        }
    }

    // ---- What comes in ----

    @Override
    public int begin(SegmentHeader segment, ByteBuffer from, int at) {
        incoming = segment.opcode;
        silent = false;
        return switch (incoming) {
            case Opcode.READ_RESPONSE -> accept(segment) ? check(requester.beginResponse(segment)) : FrameInput.STOP;
            case Opcode.ATOMIC_RESPONSE -> {
                atomicIdentifier = AtomicResponse.identifier(from, at);
                atomicOriginal = AtomicResponse.original(from, at);
                yield accept(segment) ? FrameInput.PLACE : FrameInput.STOP;
            }
            case Opcode.ACKNOWLEDGE -> {
                boolean agreed = terms.acknowledges() && accept(segment);
                yield agreed ? check(received.decode(from, at)) : check(Violation.NOT_NEGOTIATED);
            }
            case Opcode.TERMINATE -> {
                terminate.decode(from, at, segment.payloadBytes);
                terminated = true;
                requester.refuse(terminate.code.workStatus().code(), terminate.raw);
                yield FrameInput.STOP;
            }
            default -> isAgreed() ? beginRequest(segment, from, at) : check(Violation.NOT_NEGOTIATED);
        };
    }

    private int beginRequest(SegmentHeader segment, ByteBuffer from, int at) {
        owner.linkEstablished();
        return responder.begin(segment, from, at);
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
        violation(violation);
        return FrameInput.STOP;
    }

    @Override
    public boolean place(MemorySegment from, long offset, int bytes) {
        untoldBytes += bytes;
        cameBytes += bytes;
        return placement.copy(from, offset, bytes) || lostMemory();
    }

    @Override
    public int targets(@Nullable ByteBuffer[] list, int bytes) {
        int count = placement.targets(list, bytes);
        if (count == 0) {
            lostMemory();
        }
        return count;
    }

    @Override
    public void placed(int bytes) {
        untoldBytes += bytes;
        cameBytes += bytes;
        placement.advance(bytes);
    }

    private boolean lostMemory() {
        if (incoming == Opcode.READ_RESPONSE) {
            requester.lostSink();
            ended = true;
        } else {
            responder.lostMemory();
        }
        return false;
    }

    @Override
    public boolean end(SegmentHeader segment) {
        return switch (segment.opcode) {
            case Opcode.READ_RESPONSE -> {
                requester.endResponse(segment);
                yield true;
            }
            case Opcode.ATOMIC_RESPONSE ->
                check(requester.atomicResponse(atomicIdentifier, atomicOriginal)) == FrameInput.PLACE;
            case Opcode.ACKNOWLEDGE -> acknowledged();
            default -> responder.end(segment);
        };
    }

    private boolean acknowledged() {
        int before = requester.acknowledged();
        if (!requester.acknowledge(received.count)) {
            return check(Violation.ACKNOWLEDGEMENT) == FrameInput.PLACE;
        }
        if (received.count != before) {
            owner.linkProgressed();
        }
        switch (received.syndrome) {
            case Acknowledgement.DONE -> {
                return true;
            }
            case Acknowledgement.RECEIVER_NOT_READY -> {
                if (!requester.goBack()) {
                    return check(Violation.ACKNOWLEDGEMENT) == FrameInput.PLACE;
                }
                notReadyTimer = received.rnrTimer;
                return true;
            }
            case Acknowledgement.CLOSED -> closedByPeer = true;
            default -> {
                requester.refuse(status(received.syndrome), 0);
                ended = true;
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

    @Override
    public void violation(Violation violation) {
        context.links().counters().violation();
        responder.violated(violation);
    }

    // ---- Ending ----

    /// Gives the receive back that an incomplete message has taken; see [LinkResponder#abandonReceive].
    boolean abandonReceive() {
        return responder.abandonReceive();
    }

    /// The receive of [#abandonReceive].
    long receiveId() {
        return responder.receiveId();
    }

    /// Ends the connection.
    ///
    /// @param orderly whether the peer's queue pair is not to fail: it is told that nothing more comes
    void close(boolean orderly) {
        if (closed) {
            return;
        }
        closed = true;
        boolean told = false;
        try {
            attention.close();
            told = orderly && terms.acknowledges() && !closedByPeer && sayGoodbye();
        } catch (IOException | RuntimeException e) {
            LOGGER.log(System.Logger.Level.DEBUG, () -> this + ": the peer could not be told of its end", e);
        }
        output.clear();
        input.clear();
        placement.release();
        // A peer of another make is told by FIN alone, behind everything that it has not read yet.
        context.links().farewell(channel, told || refusalTold || (orderly && !terms.acknowledges()));
        if (!driving) {
            arena.close();
        }
    }

    private boolean sayGoodbye() throws IOException {
        if (!output.isEmpty() && !(output.isValid(keyCheck) && output.flush(channel))) {
            return false;
        }
        acknowledge(Acknowledgement.CLOSED, 0);
        return output.flush(channel);
    }

    @Override
    public String toString() {
        return "TCP link of " + owner;
    }
}
