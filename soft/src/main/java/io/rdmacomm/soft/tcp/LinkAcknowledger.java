package io.rdmacomm.soft.tcp;

import io.rdmacomm.soft.iwarp.Acknowledgement;
import io.rdmacomm.soft.iwarp.MessageNumbers;
import io.rdmacomm.soft.iwarp.Opcode;
import io.rdmacomm.soft.iwarp.SegmentHeader;
import io.rdmacomm.soft.mapped.QueuePairBlock;

/// Tells the peer how many of its requests were executed, that one found no receive, why one was rejected, and that
/// the link ends. Under the queue pair's send lock.
final class LinkAcknowledger {
    private static final int MANY_UNACKNOWLEDGED = 16;
    private static final long MUCH_UNACKNOWLEDGED = 64 * 1024;
    /// This much data in one drive, or without an acknowledgement, counts as a stream.
    static final long STREAM_BYTES = 32 * 1024;

    // Well within the time after which a silent peer counts as dead.
    private static final long SIGN_OF_LIFE_NANOS = 1_000_000_000;

    private final LinkTerms terms;
    private final QueuePairBlock block;
    private final LinkResponder responder;
    private final FrameOutput output;
    private final MessageNumbers numbers = new MessageNumbers();
    private final SegmentHeader header = new SegmentHeader();
    private final Acknowledgement acknowledgement = new Acknowledgement();
    private int acknowledged;
    private long unacknowledgedBytes;
    private long lastCame = System.nanoTime();
    private long lastAcknowledged = lastCame;
    private boolean signOfLife;
    private boolean streamAcknowledged;
    private boolean refusalSent;

    /// @param block has the receiver-not-ready timer for the peer
    LinkAcknowledger(LinkTerms terms, QueuePairBlock block, LinkResponder responder, FrameOutput output) {
        this.terms = terms;
        this.block = block;
        this.responder = responder;
        this.output = output;
    }

    /// Payload has arrived. During a long message, an acknowledgement with an unchanged count is a sign of life.
    ///
    /// @param now in the time of [System#nanoTime()]
    void count(long bytes, long now) {
        unacknowledgedBytes += bytes;
        lastCame = now;
        signOfLife = bytes > 0 && now - lastAcknowledged > SIGN_OF_LIFE_NANOS;
    }

    /// Whether requests were executed that are not acknowledged.
    boolean isUnacknowledged() {
        return terms.acknowledges() && responder.executed() != acknowledged;
    }

    /// Whether so much is unacknowledged that the peer should not wait any longer.
    boolean isMuchUnacknowledged() {
        return responder.executed() - acknowledged >= MANY_UNACKNOWLEDGED || unacknowledgedBytes >= MUCH_UNACKNOWLEDGED;
    }

    /// Acknowledges what was executed, if there is room.
    ///
    /// @param now whether to send an acknowledgement on its own
    void acknowledgeExecuted(boolean now) {
        if (!terms.acknowledges() || !output.hasRoom()) {
            return;
        }
        if (responder.takeNotReady()) {
            acknowledge(Acknowledgement.RECEIVER_NOT_READY, block.rnrTimer());
        } else if (signOfLife || (now && isUnacknowledged())) {
            acknowledge(Acknowledgement.DONE, 0);
        }
    }

    /// Whether an acknowledgement was sent during an incoming stream; resets it.
    boolean takeStreamAcknowledged() {
        boolean was = streamAcknowledged;
        streamAcknowledged = false;
        return was;
    }

    /// Sends the reason for a rejection once, if there is room.
    void sendRefusal() {
        Refusal why = responder.refusal();
        if (why == null || refusalSent || !output.hasRoom()) {
            return;
        }
        refusalSent = true;
        if (terms.acknowledges()) {
            acknowledge(why.syndrome(), 0);
        } else {
            output.terminate(header, why.code());
        }
    }

    /// Whether the reason for the rejection is among the frames, sent or not.
    boolean isRefusalSent() {
        return refusalSent;
    }

    /// Announces an orderly end of the link to one of our own devices.
    void sendEnd() {
        acknowledge(Acknowledgement.CLOSED, 0);
    }

    private void acknowledge(int syndrome, int timer) {
        acknowledgement.count = responder.executed();
        acknowledgement.syndrome = syndrome;
        acknowledgement.rnrTimer = timer;
        header.setUntagged(Opcode.ACKNOWLEDGE, numbers.take(Opcode.ACKNOWLEDGE));
        acknowledgement.encode(output.headers(), output.begin(header));
        output.end();
        acknowledged = acknowledgement.count;
        streamAcknowledged |= unacknowledgedBytes >= STREAM_BYTES;
        unacknowledgedBytes = 0;
        // The clock is read once for each drive, not once more for each answer.
        lastAcknowledged = lastCame;
        signOfLife = false;
    }
}
