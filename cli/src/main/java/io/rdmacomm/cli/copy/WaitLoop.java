package io.rdmacomm.cli.copy;

import io.rdmacomm.cli.command.CommandFailure;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/// Paces a loop that waits for the peer: spins at first, then sleeps between rounds, and finally gives up.
final class WaitLoop {
    private static final int SPINS = 2000;
    private static final long SLEEP_NANOS = 20_000;

    private final long deadline;
    private final Duration timeout;
    private int rounds;

    WaitLoop(Duration timeout) {
        this.timeout = timeout;
        this.deadline = System.nanoTime() + timeout.toNanos();
    }

    /// Waits a moment.
    ///
    /// @throws CommandFailure if the timeout has passed or the thread was interrupted
    void pause() {
        if (rounds++ < SPINS) {
            Thread.onSpinWait();
            return;
        }
        if (System.nanoTime() - deadline > 0) {
            throw silent(timeout);
        }
        LockSupport.parkNanos(SLEEP_NANOS);
        if (Thread.interrupted()) {
            throw new CommandFailure("interrupted");
        }
    }

    /// The failure to report if the peer has been silent for this long.
    static CommandFailure silent(Duration timeout) {
        return new CommandFailure(silence(timeout));
    }

    /// The failure to report if the peer has been silent for this long, with its cause.
    static CommandFailure silent(Duration timeout, Throwable cause) {
        return new CommandFailure(silence(timeout), cause);
    }

    private static String silence(Duration timeout) {
        return "the peer sent nothing for " + timeout.toSeconds() + " s: is it stopped?";
    }
}
