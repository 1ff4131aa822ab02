package io.rdmacomm.cli.copy;

import io.rdmacomm.cli.command.CommandFailure;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/// Paces a loop that waits for the peer: spins at first, then sleeps between rounds, and finally gives up.
final class WaitLoop {
    private static final int SPINS = 2000;
    private static final long SLEEP_NANOS = 20_000;

    private final long deadline;
    private final Duration patience;
    private int rounds;

    WaitLoop(Duration patience) {
        this.patience = patience;
        this.deadline = System.nanoTime() + patience.toNanos();
    }

    /// Waits for a moment.
    ///
    /// @throws CommandFailure if the patience is exhausted or the thread was interrupted
    void pause() {
        if (rounds++ < SPINS) {
            Thread.onSpinWait();
            return;
        }
        if (System.nanoTime() - deadline > 0) {
            throw silent(patience);
        }
        LockSupport.parkNanos(SLEEP_NANOS);
        if (Thread.interrupted()) {
            throw new CommandFailure("interrupted");
        }
    }

    /// The failure to report if the peer has been silent for this long.
    static CommandFailure silent(Duration patience) {
        return new CommandFailure(silence(patience));
    }

    /// The failure to report if the peer has been silent for this long, with its cause.
    static CommandFailure silent(Duration patience, Throwable cause) {
        return new CommandFailure(silence(patience), cause);
    }

    private static String silence(Duration patience) {
        return "the peer sent nothing for " + patience.toSeconds() + " s: is it stopped?";
    }
}
