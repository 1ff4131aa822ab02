package io.rdmacomm.comm.endpoint;

import io.rdmacomm.verbs.service.SafeLogger;
import java.lang.System.Logger.Level;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiConsumer;

/// Counts and reports exceptions of the handlers and listeners of a session. Reporting never throws.
/// Thread-safe.
public final class HandlerErrors {
    private static final SafeLogger LOGGER = SafeLogger.of("io.rdmacomm.comm");

    private final BiConsumer<String, Throwable> listener;
    private final LongAdder count = new LongAdder();

    /// @param listener receives each exception
    public HandlerErrors(BiConsumer<String, Throwable> listener) {
        this.listener = listener;
    }

    /// The number of exceptions so far.
    public long count() {
        return count.sum();
    }

    /// Runs a listener, and reports its exceptions.
    public void guard(String where, Runnable call) {
        try {
            call.run();
        } catch (RuntimeException | Error e) {
            report(where, e);
        }
    }

    /// Counts and reports an exception.
    ///
    /// @param where what was running
    public void report(String where, Throwable thrown) {
        try {
            count.increment();
            long sum = count.sum();
            // Logs only at powers of two, so that a handler that always throws does not fill the disk.
            if (Long.bitCount(sum) == 1) {
                LOGGER.log(Level.WARNING, where + " threw (" + sum + " so far)", thrown);
            }
        } catch (RuntimeException | Error e) {
            // Out of memory for the log entry.
        }
        try {
            listener.accept(where, thrown);
        } catch (RuntimeException | Error e) {
            countOnly();
        }
    }

    private void countOnly() {
        try {
            count.increment();
        } catch (Error e) {
            // A contended adder allocates.
        }
    }
}
