package io.rdmacomm.soft.tcp;

import io.rdmacomm.soft.iwarp.ReadyToReceive;
import io.rdmacomm.soft.mapped.QueuePairBlock;
import io.rdmacomm.soft.memory.LocalMemory;
import io.rdmacomm.soft.transport.QueuePairResources;
import io.rdmacomm.soft.transport.ReceiveQueue;
import io.rdmacomm.soft.transport.RequestQueue;
import io.rdmacomm.soft.transport.RetryTimer;
import io.rdmacomm.soft.transport.Transport;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.service.SafeLogger;
import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.util.function.IntConsumer;

/// A queue pair's iWARP connection to its peer. The thread that holds the queue pair's send lock drives it:
/// [LinkDriver] decides which. The link reports to [Transport.Events] how it ended, and [#isUnfinished] tells that it
/// needs to be driven again. Nothing here blocks, and nothing allocates once all regions in use are known.
final class Link {
    /// Of [WorkStatus#RETRY_EXCEEDED]: the TCP connection was lost.
    static final int VENDOR_LOST = 1;
    /// Of [WorkStatus#RETRY_EXCEEDED]: the peer has not answered in time.
    static final int VENDOR_SILENT = 2;

    private static final SafeLogger LOGGER = SafeLogger.of(Link.class);
    private static final int SUCCESS = 0;
    private static final int ROUNDS = 4;
    /// How long polling threads leave a full socket alone: a segment takes only 6 us at 80 Gbit/s.
    private static final long FULL_NANOS = 1_000;
    private static final long TIMEOUT_FLOOR_NANOS = 5_000_000_000L;
    /// How often a third-party peer is prompted to read the first frames: see [#remind].
    private static final int REMINDERS = 2;

    private final int number;
    private final QueuePairBlock block;
    private final RequestQueue sends;
    private final ReceiveQueue receives;
    private final RetryTimer retries;
    private final Transport.Events events;
    private final SocketChannel channel;
    private final LinkTerms terms;
    private final FrameInput input;
    private final FrameOutput output;
    private final FrameOutput.KeyCheck keyCheck;
    private final LinkRequester requester;
    private final LinkResponder responder;
    private final LinkReceiver receiver;
    private final LinkAcknowledger acknowledger;
    private final PromptAcknowledgement promptness;

    private final boolean waitsForPeer;
    private int reminders;
    private boolean responsesFirst;
    private boolean ended;
    private String loss = "the peer has ended the TCP connection";
    private long lastHeard = System.nanoTime();
    private long writtenBefore;
    private long fullSince = System.nanoTime() - FULL_NANOS;
    private final LinkEnd end;
    private boolean unfinished;
    private volatile boolean closed;

    /// Takes over a connection whose terms are agreed on.
    ///
    /// @param onLimit called with the number of a shared receive queue that fell below its limit
    /// @param channel not blocking
    /// @param byAddress whether a connection manager has made the connection
    Link(
            QueuePairResources queuePair,
            LocalMemory memory,
            LinkCounters counters,
            IntConsumer onLimit,
            SocketChannel channel,
            LinkTerms terms,
            boolean byAddress) {
        this.number = queuePair.number();
        this.block = queuePair.block();
        this.sends = queuePair.sends();
        this.receives = queuePair.receives();
        this.retries = queuePair.retries();
        this.events = queuePair.events();
        this.channel = channel;
        this.terms = terms;
        this.end = new LinkEnd(events, counters, toString(), byAddress);
        this.keyCheck = memory::isValid;
        boolean checksum = terms.mpa().checksum();
        this.output = new FrameOutput(checksum);
        this.requester = new LinkRequester(memory, sends, queuePair.windowRequests(), terms);
        this.responder = new LinkResponder(queuePair, memory, terms, counters, onLimit);
        this.receiver = new LinkReceiver(retries, terms, requester, responder);
        this.input = new FrameInput(checksum, receiver);
        this.acknowledger = new LinkAcknowledger(terms, block, responder, output);
        this.promptness = new PromptAcknowledgement(channel);
        limitSendBuffer();
        // A responder sends nothing until the initiator has, unless both agreed otherwise (RFC 5044 7.1.2).
        this.waitsForPeer = !terms.initiator() && !terms.acknowledges();
        this.reminders = terms.initiator() && !terms.acknowledges() ? REMINDERS : 0;
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

    private void limitSendBuffer() {
        try {
            SendBuffer.limit(channel);
        } catch (IOException e) {
            LOGGER.log(System.Logger.Level.DEBUG, "the socket has already failed; its next use reports that", e);
        }
    }

    SocketChannel channel() {
        return channel;
    }

    boolean isClosed() {
        return closed;
    }

    /// Whether there is nothing to do until data arrives.
    boolean isQuiet() {
        return output.isEmpty() && !acknowledger.isUnacknowledged();
    }

    /// Whether frames wait for the socket.
    boolean isBlocked() {
        return !output.isEmpty();
    }

    /// Whether the last [#drive] has received so much that more is likely to follow.
    boolean isStreaming() {
        return receiver.bytes() >= LinkAcknowledger.STREAM_BYTES;
    }

    /// Whether the last drive has left data that can be sent once the socket has room.
    boolean isUnfinished() {
        return unfinished;
    }

    /// Why the connection has ended.
    String end() {
        return end.reason();
    }

    /// Whether requests are in flight.
    boolean isWaiting() {
        return requester.sent().isWaiting();
    }

    // ---- Driving; under the queue pair's send lock ----

    /// Sends what was posted.
    void transmit() {
        transmit(false, false);
    }

    /// Acknowledges at once.
    void acknowledge() {
        transmit(true, true);
    }

    private void transmit(boolean prompt, boolean insist) {
        if (!enter()) {
            return;
        }
        try {
            if (isSendable()) {
                send(prompt, insist);
                finish();
            }
        } catch (IOException | RuntimeException | Error e) {
            lost(e);
        } finally {
            leave();
        }
    }

    /// Receives what has arrived, and sends what can be sent.
    ///
    /// @param prompt whether to acknowledge at once; otherwise with the next message, or when nothing has arrived
    /// @param insist whether to try to send although the socket was full a moment ago
    /// @return whether anything has arrived
    boolean drive(boolean prompt, boolean insist) {
        if (!enter()) {
            return false;
        }
        receiver.resetBytes();
        try {
            int got = isOver() || responder.refusal() != null ? FrameInput.IDLE : input.read(channel);
            if (got == FrameInput.END) {
                ended = true;
            } else if (got == FrameInput.PROGRESS) {
                lastHeard = System.nanoTime();
                acknowledger.count(receiver.bytes(), lastHeard);
            }
            if (isOver()) {
                finish();
            } else if (isSendable()) {
                send(prompt || got == FrameInput.IDLE, insist);
                finish();
            }
            return got != FrameInput.IDLE;
        } catch (IOException | RuntimeException | Error e) {
            lost(e);
            return true;
        } finally {
            leave();
        }
    }

    /// The link's traffic so far; any thread.
    LinkTraffic traffic() {
        return new LinkTraffic(output.written(), input.bytes(), output.frames(), input.frames());
    }

    /// Sends the requests that were held back.
    void release() {
        requester.release();
        drive(true, true);
    }

    /// Whether the stream of the peer has ended.
    private boolean isOver() {
        return ended || receiver.isOver();
    }

    private boolean enter() {
        if (closed || end.isOver()) {
            return false;
        }
        unfinished = false;
        block.beginExecuting();
        return true;
    }

    private void leave() {
        block.endExecuting();
    }

    /// False if memory that waits to be sent was deregistered; the link fails then.
    private boolean isSendable() {
        if (output.isEmpty() || output.isValid(keyCheck)) {
            return true;
        }
        end.lost(WorkStatus.LOCAL_PROTECTION_ERROR, 0, "memory was deregistered while it was being sent");
        return false;
    }

    /// @param prompt whether to acknowledge, however little
    /// @param insist whether to try although the socket was full a moment ago
    private void send(boolean prompt, boolean insist) throws IOException {
        if (!insist && !output.isEmpty() && System.nanoTime() - fullSince < FULL_NANOS) {
            unfinished = true;
            return;
        }
        requester.sent().completeRequests();
        boolean acknowledge = prompt || acknowledger.isMuchUnacknowledged();
        for (int round = 0; round < ROUNDS; round++) {
            fill(acknowledge);
            if (output.isEmpty()) {
                return;
            }
            if (!output.flush(channel)) {
                fullSince = System.nanoTime();
                unfinished = true;
                return;
            }
            if (acknowledger.takeStreamAcknowledged()) {
                promptness.renew();
            }
            requester.sent().allWritten();
            requester.sent().completeRequests();
        }
        unfinished = true;
    }

    private void fill(boolean acknowledge) {
        boolean refusing = responder.refusal() != null;
        boolean some = !output.isEmpty();
        boolean maySpeak = !waitsForPeer || receiver.hasSpoken();
        while (maySpeak && output.hasRoom() && writeFrame(refusing)) {
            some = true;
        }
        if (refusing) {
            acknowledger.sendRefusal();
        } else {
            acknowledger.acknowledgeExecuted(acknowledge || some);
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
        boolean maySend = sends.isOpen();
        return responsesFirst
                ? responses.writeFrame(output) || requester.writeFrame(output, maySend)
                : requester.writeFrame(output, maySend) || responses.writeFrame(output);
    }

    /// Acts on what has arrived and on what has failed.
    private void finish() {
        if (receiver.hasSpoken()) {
            events.progressed();
        }
        SentRequests sent = requester.sent();
        int timer = receiver.takeNotReadyTimer();
        if (timer >= 0) {
            int failure = retries.receiverNotReady(timer);
            if (failure != SUCCESS) {
                sent.stopNext(failure);
            }
        }
        Refusal refusal = responder.refusal();
        if (sent.completeRequests()) {
            String termination = receiver.termination();
            end.requestFailed(
                    sent.failure(), sent.vendorError(), termination != null ? termination : requester.whyUnsupported());
        } else if (receiver.isClosedByPeer() && !responder.isInsideReceive()) {
            end.closedByPeer();
        } else if (refusal != null) {
            if (isOver() || (acknowledger.isRefusalSent() && output.isEmpty())) {
                end.rejected(refusal);
            }
        } else if (isOver()) {
            String termination = receiver.termination();
            boolean orderly = !terms.acknowledges() && input.isBetweenFrames() && !receiver.isInsideMessage();
            end.lost(
                    orderly || termination != null ? WorkStatus.FLUSHED : WorkStatus.RETRY_EXCEEDED,
                    VENDOR_LOST,
                    termination != null ? termination : loss);
        }
    }

    /// The connection has failed. First reads what the peer sent before, which may give the reason.
    private void lost(Throwable e) {
        if (closed || end.isOver()) {
            return;
        }
        boolean readable = !isOver() && e instanceof IOException && responder.refusal() == null;
        // Set first: the rest may run out of memory, and then the link must not continue with half a frame.
        ended = true;
        loss = e.toString();
        try {
            if (readable) {
                input.read(channel);
            }
        } catch (IOException | RuntimeException | Error again) {
            LOGGER.log(System.Logger.Level.TRACE, "nothing more can be read", again);
        }
        try {
            finish();
        } catch (RuntimeException | Error again) {
            end.lost(WorkStatus.GENERAL_ERROR, VENDOR_LOST, loss);
        }
    }

    /// Whether [#checkTime] has to prompt the peer.
    boolean isToRemind() {
        return reminders > 0 && output.written() > 0;
    }

    /// Sends an empty Write, which prompts the peer to read what was sent.
    ///
    /// Linux siw sends its reply before it listens for frames (`siw_accept`). Frames that arrive in between stay
    /// unread until more data arrives, which never happens while this side waits for an answer.
    private void remind() {
        reminders--;
        boolean inside = requester.isInside() || responder.responses().isInside();
        if (output.isEmpty() && !inside && responder.refusal() == null && !isOver()) {
            requester.announceWrite(output);
            drive(true, true);
        }
    }

    /// Notes that the link expects nothing of the peer now. Called by the engine.
    void touch(long now) {
        lastHeard = now;
    }

    /// Fails the link if the peer has not answered for too long, or prompts the peer; the engine, with the send lock.
    ///
    /// @param timeoutNanos how long requests are retried
    void checkTime(long now, long timeoutNanos) {
        boolean unanswered = requester.sent().isWaiting() || isBlocked();
        if (!unanswered || output.written() != writtenBefore) {
            // A peer that takes what is sent is alive, however slow the line is.
            writtenBefore = output.written();
            lastHeard = now;
        } else if (!closed && !end.isOver() && now - lastHeard > Math.max(timeoutNanos, TIMEOUT_FLOOR_NANOS)) {
            end.lost(WorkStatus.RETRY_EXCEEDED, VENDOR_SILENT, "the peer does not answer");
        }
        if (!closed && !end.isOver() && isToRemind()) {
            remind();
        }
    }

    // ---- Ending ----

    /// Gives back the receive that an incomplete message has taken, to be flushed.
    void giveBackReceive() {
        responder.giveBackReceive(receives);
    }

    /// Ends the connection; the caller closes the socket.
    ///
    /// @param orderly whether a closing frame announces the end, so that the peer's queue pair does not fail
    /// @return whether a closing frame was sent that the peer should still read
    boolean close(boolean orderly) {
        closed = true;
        boolean closingSent = false;
        try {
            closingSent = orderly && terms.acknowledges() && !receiver.isClosedByPeer() && sendClosed();
        } catch (IOException | RuntimeException e) {
            LOGGER.log(System.Logger.Level.DEBUG, () -> this + ": could not send the closing frame", e);
        }
        output.clear();
        receiver.release();
        // A third-party peer learns of the end from FIN alone, after it has read all data.
        return closingSent || acknowledger.isRefusalSent() || (orderly && !terms.acknowledges());
    }

    private boolean sendClosed() throws IOException {
        if (!output.isEmpty() && !(output.isValid(keyCheck) && output.flush(channel))) {
            return false;
        }
        acknowledger.sendEnd();
        return output.flush(channel);
    }

    @Override
    public String toString() {
        return "TCP link of queue pair 0x" + Integer.toHexString(number);
    }
}
