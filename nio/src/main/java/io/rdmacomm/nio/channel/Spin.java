package io.rdmacomm.nio.channel;

/// How long a thread polls before it sleeps. Polling saves a wake-up if something arrives soon, and costs a
/// processor: so the time halves each time nothing came of it, and doubles when something did. A thread that no
/// longer polls tries it again now and then, because the length of a sleep does not tell: the wake-up alone takes
/// longer than what it waits for. For one thread at a time.
final class Spin {
    private static final String PROPERTY = "io.rdmacomm.nio.spinMicros";
    private static final long MOST_NANOS = Long.getLong(PROPERTY, 20) * 1_000;
    private static final long LEAST_NANOS = 1_000;
    /// After how many sleeps without polling a thread tries again.
    private static final int TRIAL = 64;
    /// Beside so few processors, a thread that polls takes the one that its peer needs.
    private static final int FEW_PROCESSORS = 2;

    private static final boolean WANTED =
            Long.getLong(PROPERTY) != null || Runtime.getRuntime().availableProcessors() > FEW_PROCESSORS;

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
