package io.rdmacomm.comm;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.atomic.LongAdder;

/// Counts and reports what handlers and listeners of a session throw. Thread-safe.
final class HandlerErrors {
    private static final Logger LOGGER = System.getLogger(HandlerErrors.class.getPackageName());

    private final SessionListener listener;
    private final LongAdder count = new LongAdder();

    /// @param listener is told of each
    HandlerErrors(SessionListener listener) {
        this.listener = listener;
    }

    long count() {
        return count.sum();
    }

    /// Runs a listener; what it throws is reported.
    void guard(String where, Runnable call) {
        try {
            call.run();
        } catch (RuntimeException | Error e) {
            report(where, e);
        }
    }

    /// @param where what was running
    void report(String where, Throwable thrown) {
        count.increment();
        long sum = count.sum();
        // The first, then fewer and fewer: a handler that always throws does not fill the disk.
        if (Long.bitCount(sum) == 1) {
            LOGGER.log(Level.WARNING, where + " threw (" + sum + " so far)", thrown);
        }
        try {
            listener.onError(where, thrown);
        } catch (RuntimeException | Error e) {
            count.increment();
        }
    }
}
