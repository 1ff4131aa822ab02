package io.rdmacomm.soft.tcp;

import java.util.concurrent.atomic.AtomicLong;

/// What the network side of a context has seen. A bad peer costs its own connection and is counted here.
public final class LinkCounters {
    private final AtomicLong established = new AtomicLong();
    private final AtomicLong refused = new AtomicLong();
    private final AtomicLong timedOut = new AtomicLong();
    private final AtomicLong malformed = new AtomicLong();
    private final AtomicLong overload = new AtomicLong();
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

    /// A well-formed call was refused.
    void refused() {
        refused.incrementAndGet();
    }

    /// A caller took too long.
    void timedOut() {
        timedOut.incrementAndGet();
    }

    /// A caller spoke something else, or broke off.
    void malformed() {
        malformed.incrementAndGet();
    }

    /// A caller was turned away because too many others were being dealt with.
    void overload() {
        overload.incrementAndGet();
    }

    /// Nobody could be accepted, so callers wait for a moment: too many open files, most likely.
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

    /// A link has ended without a word, or because the peer was silent for too long.
    void lost() {
        lost.incrementAndGet();
    }

    /// A link has ended in order.
    void closed() {
        closed.incrementAndGet();
    }

    /// How many queue pairs got a link.
    public long links() {
        return established.get();
    }

    /// How many links the peer has ended, in whatever way, or given reason to end.
    public long endedByPeers() {
        return requestsRefused.get() + requestsFailed.get() + lost.get() + closed.get();
    }

    /// How many links were ended because the peer broke the protocol.
    public long violations() {
        return violations.get();
    }

    /// How often callers had to wait until somebody could be accepted.
    public long pauses() {
        return pauses.get();
    }

    /// How many callers did not get a link: refused, too slow, malformed or too many.
    public long turnedAway() {
        return refused.get() + timedOut.get() + malformed.get() + overload.get();
    }

    @Override
    public String toString() {
        return "established " + established + ", refused " + refused + ", timed out " + timedOut + ", malformed "
                + malformed + ", overload " + overload + ", pauses " + pauses + ", violations " + violations
                + ", ended: request refused "
                + requestsRefused + ", request failed " + requestsFailed + ", lost " + lost + ", in order " + closed;
    }
}
