package io.rdmacomm.soft.cm;

import java.util.concurrent.atomic.LongAdder;

/// What became of the connections that a listener accepted. Readable from any thread.
public final class AcceptCounters {
    final LongAdder accepted = new LongAdder();
    final LongAdder requests = new LongAdder();
    final LongAdder violations = new LongAdder();
    final LongAdder timeouts = new LongAdder();
    final LongAdder displaced = new LongAdder();
    final LongAdder overflows = new LongAdder();
    final LongAdder vanished = new LongAdder();

    AcceptCounters() {}

    /// TCP connections.
    public long accepted() {
        return accepted.sum();
    }

    /// Complete requests.
    public long requests() {
        return requests.sum();
    }

    /// Connections closed because what came was no request that can be answered.
    public long violations() {
        return violations.sum();
    }

    /// Connections closed because no request came in time.
    public long timeouts() {
        return timeouts.sum();
    }

    /// Connections closed because too many came after them.
    public long displaced() {
        return displaced.sum();
    }

    /// Requests refused because too many waited.
    public long overflows() {
        return overflows.sum();
    }

    /// Connections that the peer ended before its request was complete.
    public long vanished() {
        return vanished.sum();
    }

    /// All numbers in a line.
    @Override
    public String toString() {
        return accepted + " accepted, " + requests + " requests, " + violations + " violations, " + timeouts
                + " timed out, " + displaced + " displaced, " + overflows + " refused for want of room, " + vanished
                + " vanished";
    }
}
