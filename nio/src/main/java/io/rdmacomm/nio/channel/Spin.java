package io.rdmacomm.nio.channel;

/// How long a thread polls before it sleeps. Polling saves a wake-up if something arrives soon, but uses a
/// processor. So the time halves each time polling was in vain, and doubles when it was not. A thread that no
/// longer polls tries again now and then. The length of a sleep does not show whether polling would help: the
/// wake-up alone takes longer than the event it waits for. For one thread at a time.
final class Spin {
    private static final String PROPERTY = "io.rdmacomm.nio.spinMicros";
    /// Longer than a wake-up takes: both ends of a connection begin to poll only if one of them still does when the
    /// other one, which has slept, answers.
    private static final long MOST_NANOS = Long.getLong(PROPERTY, 50) * 1_000;
    private static final long LEAST_NANOS = 1_000;
    /// The number of sleeps without polling after which a thread tries again.
    private static final int TRIAL = 64;
    /// On a single processor, a polling thread takes the one that its peer needs. On two, polling fails if others
    /// need them, and so stops: a request and its answer of 8 bytes over one connection take 1 us instead of 67,
    /// and beside busy loops as long as without polling.
    private static final boolean WANTED =
            Long.getLong(PROPERTY) != null || Runtime.getRuntime().availableProcessors() > 1;

    private final long most;
    private long nanos;
    private int sleeps;
    private boolean trial;

    Spin() {
        this(WANTED ? MOST_NANOS : 0);
    }

    /// @param most the longest time to poll, in nanoseconds; 0 for never
    Spin(long most) {
        this.most = most;
        this.nanos = most;
    }

    /// How long to poll next.
    long nanos() {
        if (nanos > 0 || most == 0) {
            return nanos;
        }
        sleeps++;
        if (sleeps < TRIAL) {
            return 0;
        }
        sleeps = 0;
        trial = true;
        return most;
    }

    /// Something came while it polled.
    void helped() {
        nanos = trial ? most : Math.min(most, Math.max(LEAST_NANOS, nanos * 2));
        trial = false;
    }

    /// Nothing came while it polled.
    void failed() {
        nanos = nanos / 2 < LEAST_NANOS ? 0 : nanos / 2;
        trial = false;
    }
}
