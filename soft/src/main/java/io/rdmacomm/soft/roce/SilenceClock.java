package io.rdmacomm.soft.roce;

import io.rdmacomm.soft.transport.Engine;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/// Makes the queue pairs of a context ask idle peers for a sign of life, as nothing else shows that a peer or its
/// host is gone. It counts ticks instead of time: a process that was stopped meanwhile has not asked.
final class SilenceClock {
    /// After this many ticks without a packet, a third of the timeout, the peer is asked on every tick.
    static final int IDLE_TICKS = 2;
    /// After this many ticks the peer is given up. One more may have passed, because the first one may be partial.
    static final int SILENT_TICKS = 5;

    private final Engine engine;
    private final long tickNanos;
    private final Set<RoceTransport> transports = ConcurrentHashMap.newKeySet();
    private volatile long next;

    /// @param seconds how long a peer may be silent
    SilenceClock(Engine engine, int seconds) {
        this.engine = engine;
        this.tickNanos = TimeUnit.SECONDS.toNanos(seconds) / (SILENT_TICKS + 1);
    }

    void add(RoceTransport transport) {
        boolean first = transports.isEmpty();
        transports.add(transport);
        if (first) {
            next = System.nanoTime() + tickNanos;
            engine.wakeup();
        }
    }

    void remove(RoceTransport transport) {
        transports.remove(transport);
    }

    /// Time has passed; the engine.
    ///
    /// @return nanoseconds until the next call is due
    long onTime() {
        if (transports.isEmpty()) {
            return Long.MAX_VALUE;
        }
        long now = System.nanoTime();
        if (now - next >= 0) {
            next = now + tickNanos;
            transports.forEach(RoceTransport::tick);
        }
        return next - now;
    }
}
