package io.rdmacomm.soft;

import java.util.concurrent.atomic.AtomicLong;

/// What the network side of a context has seen. A bad peer costs its own connection and is counted here.
final class LinkCounters {
    private final AtomicLong established = new AtomicLong();
    private final AtomicLong refused = new AtomicLong();
    private final AtomicLong timedOut = new AtomicLong();
    private final AtomicLong malformed = new AtomicLong();
    private final AtomicLong overload = new AtomicLong();
    private final AtomicLong violations = new AtomicLong();

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

    /// A peer broke the protocol on an established link.
    void violation() {
        violations.incrementAndGet();
    }

    /// How many links were ended because the peer broke the protocol.
    long violations() {
        return violations.get();
    }

    /// How many callers did not get a link: refused, too slow, malformed or too many.
    long turnedAway() {
        return refused.get() + timedOut.get() + malformed.get() + overload.get();
    }

    @Override
    public String toString() {
        return "established " + established + ", refused " + refused + ", timed out " + timedOut + ", malformed "
                + malformed + ", overload " + overload + ", violations " + violations;
    }
}
