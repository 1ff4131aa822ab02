package io.rdmacomm.cli.bench.trial;

import io.rdmacomm.cli.command.CommandFailure;
import java.util.concurrent.TimeUnit;

/// The waits of a test over a transport that can lose messages. Each has a limit. For one thread.
final class UnreliableWait {
    /// A message that has not arrived after this time counts as lost, unless it arrives before the end of its step.
    static final long LOST_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

    private static final long COMPLETION_NANOS = TimeUnit.SECONDS.toNanos(30);

    private final UnreliablePair pair;
    private final long lostNanos;
    private int spins;

    UnreliableWait(UnreliablePair pair) {
        this(pair, LOST_NANOS);
    }

    /// @param lostNanos the time to use instead of [#LOST_NANOS]
    UnreliableWait(UnreliablePair pair, long lostNanos) {
        this.pair = pair;
        this.lostNanos = lostNanos;
    }

    /// Polls until `messages` of this step have arrived, or until none has arrived for so long that the rest count
    /// as lost.
    ///
    /// @return whether they have arrived
    boolean forMessages(long messages) {
        long seen = pair.received();
        long since = 0;
        while (pair.received() < messages) {
            if (pair.poll() || !isTime()) {
                continue;
            }
            long now = System.nanoTime();
            if (since == 0 || pair.received() != seen) {
                since = now;
                seen = pair.received();
            } else if (now - since > lostNanos) {
                return false;
            }
        }
        return true;
    }

    /// Polls until at most `most` messages are in flight. Messages complete when they are sent, whatever the peer
    /// does.
    void forSends(int most) {
        long since = 0;
        while (pair.inFlight() > most) {
            if (pair.poll()) {
                since = 0;
            } else if (isTime()) {
                long now = System.nanoTime();
                since = since == 0 ? now : since;
                if (now - since > COMPLETION_NANOS) {
                    throw new CommandFailure("the device has completed no message for "
                            + TimeUnit.NANOSECONDS.toSeconds(COMPLETION_NANOS) + " s: is its port up?");
                }
            }
        }
    }

    /// Whether it is time to check the clock. Also yields: with fewer processors than busy threads, the other
    /// side may need this processor.
    @SuppressWarnings("ThreadPriorityCheck") // only speeds up a machine that is too busy to measure anything
    boolean isTime() {
        if ((++spins & ClockCost.CHECK_MASK) != 0) {
            return false;
        }
        Thread.yield();
        return true;
    }
}
