package io.rdmacomm.soft.cm;

import java.util.concurrent.atomic.LongAdder;

/// Counts the connections of a listener and how they ended. Thread-safe.
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

    /// Connections closed because they sent no valid request.
    public long violations() {
        return violations.sum();
    }

    /// Connections closed because no request arrived in time.
    public long timeouts() {
        return timeouts.sum();
    }

    /// Connections closed to make room for newer ones.
    public long displaced() {
        return displaced.sum();
    }

    /// Requests rejected because too many were waiting.
    public long overflows() {
        return overflows.sum();
    }

    /// Connections that the peer ended before the program took its request.
    public long vanished() {
        return vanished.sum();
    }

    /// All counters in one line.
    @Override
    public String toString() {
        return accepted + " accepted, " + requests + " requests, " + violations + " violations, " + timeouts
                + " timed out, " + displaced + " displaced, " + overflows + " rejected for lack of room, " + vanished
                + " vanished";
    }
}
