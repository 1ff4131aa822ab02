package io.rdmacomm.cli.copy;

import io.rdmacomm.cli.terminal.CommandFailure;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/// How a loop waits for the other side: it spins for a moment, then naps, and gives up in the end.
final class Idle {
    private static final int SPINS = 2000;
    private static final long NAP_NANOS = 20_000;

    private final long deadline;
    private final Duration patience;
    private int rounds;

    Idle(Duration patience) {
        this.patience = patience;
        this.deadline = System.nanoTime() + patience.toNanos();
    }

    /// Waits a little.
    ///
    /// @throws CommandFailure when the patience is at its end
    void pause() {
        if (rounds++ < SPINS) {
            Thread.onSpinWait();
            return;
        }
        if (System.nanoTime() - deadline > 0) {
            throw new CommandFailure("the other side was silent for " + patience.toSeconds() + " s: is it stopped?");
        }
        LockSupport.parkNanos(NAP_NANOS);
        if (Thread.interrupted()) {
            throw new CommandFailure("interrupted");
        }
    }
}
