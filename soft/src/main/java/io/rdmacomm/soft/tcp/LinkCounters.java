package io.rdmacomm.soft.tcp;

import java.util.concurrent.atomic.AtomicLong;

/// Counts the calls and links of a context, and how they ended.
public final class LinkCounters {
    private final AtomicLong established = new AtomicLong();
    private final AtomicLong refused = new AtomicLong();
    private final AtomicLong timedOut = new AtomicLong();
    private final AtomicLong malformed = new AtomicLong();
    private final AtomicLong displaced = new AtomicLong();
    private final AtomicLong pauses = new AtomicLong();
    private final AtomicLong violations = new AtomicLong();
    private final AtomicLong requestsRefused = new AtomicLong();
    private final AtomicLong requestsFailed = new AtomicLong();
    private final AtomicLong lost = new AtomicLong();
    private final AtomicLong closed = new AtomicLong();

    /// A queue pair got a link.
    void established() {
        established.incrementAndGet();
    }

    /// A well-formed call was rejected.
    void refused() {
        refused.incrementAndGet();
    }

    /// A caller timed out.
    void timedOut() {
        timedOut.incrementAndGet();
    }

    /// A caller spoke another protocol, or disconnected early.
    void malformed() {
        malformed.incrementAndGet();
    }

    /// A caller was disconnected to make room for another one.
    void displaced() {
        displaced.incrementAndGet();
    }

    /// No caller could be accepted for a moment, most likely because of too many open files.
    void paused() {
        pauses.incrementAndGet();
    }

    /// A peer broke the protocol on an established link.
    void violation() {
        violations.incrementAndGet();
    }

    /// A link has ended because a request of the peer was refused, or broke the protocol.
    void requestRefused() {
        requestsRefused.incrementAndGet();
    }

    /// A link has ended because a request of this side failed.
    void requestFailed() {
        requestsFailed.incrementAndGet();
    }

    /// A link was lost, or the peer was silent for too long.
    void lost() {
        lost.incrementAndGet();
    }

    /// A link has ended in an orderly way.
    void closed() {
        closed.incrementAndGet();
    }

    /// The number of queue pairs that got a link.
    public long links() {
        return established.get();
    }

    /// The number of links that ended because of the peer.
    public long endedByPeers() {
        return requestsRefused.get() + requestsFailed.get() + lost.get() + closed.get();
    }

    /// The number of links that were ended because the peer broke the protocol.
    public long violations() {
        return violations.get();
    }

    /// How often callers could not be accepted for a moment.
    public long pauses() {
        return pauses.get();
    }

    /// The number of callers that got no connection: rejected, timed out, malformed or displaced.
    public long turnedAway() {
        return refused.get() + timedOut.get() + malformed.get() + displaced.get();
    }

    @Override
    public String toString() {
        return "established " + established + ", refused " + refused + ", timed out " + timedOut + ", malformed "
                + malformed + ", displaced " + displaced + ", pauses " + pauses + ", violations " + violations
                + ", ended: request refused "
                + requestsRefused + ", request failed " + requestsFailed + ", lost " + lost + ", in order " + closed;
    }
}
