package io.rdmacomm.comm;

import io.rdmacomm.comm.data.ReceivePool;
import io.rdmacomm.verbs.service.SafeLogger;
import io.rdmacomm.verbs.statistics.ChannelCounter;
import io.rdmacomm.verbs.statistics.ChannelStatistics;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/// Warns when a program keeps so many messages of a channel that its peer can no longer send. The thread of
/// the control channels checks once a second; the data path is not involved.
final class UnclosedMessages {
    private static final SafeLogger LOGGER = SafeLogger.ofPackage(UnclosedMessages.class);
    private static final long INTERVAL_NANOS = 1_000_000_000;

    private final List<Watched> all = new CopyOnWriteArrayList<>();
    private long due = System.nanoTime();

    /// Starts checking a data channel. Thread-safe.
    void add(RdmaChannel channel) {
        all.add(new Watched(channel));
    }

    /// Stops checking a data channel. Thread-safe.
    void remove(RdmaChannel channel) {
        all.removeIf(watched -> watched.channel.equals(channel));
    }

    /// Checks all channels if a second has passed; called periodically by one thread.
    void tick() {
        long now = System.nanoTime();
        if (now - due < 0) {
            return;
        }
        due = now + INTERVAL_NANOS;
        for (Watched watched : all) {
            try {
                watched.check();
            } catch (RuntimeException | Error e) {
                // Most likely out of memory. The other channels, and the thread of the control channels,
                // continue.
                LOGGER.log(Level.DEBUG, "the unclosed messages of a channel were not counted this time", e);
            }
        }
    }

    /// One channel, and the result of the last check.
    private static final class Watched {
        private final RdmaChannel channel;
        private final int most;
        private long arrivedBefore = -1;
        private boolean warned;

        Watched(RdmaChannel channel) {
            this.channel = channel;
            int receives = channel.options().receives();
            // With this many unclosed, the remaining receives are too few to be posted again.
            this.most = receives - ReceivePool.together(receives) + 1;
        }

        /// Warns once if too many messages were unclosed at the last check, still are, and nothing has arrived in
        /// between.
        void check() {
            int unclosed = channel.unclosed();
            if (unclosed < most) {
                arrivedBefore = -1;
                warned = false;
                return;
            }
            ChannelStatistics statistics = channel.statistics();
            long arrived = statistics.value(ChannelCounter.MESSAGES) + statistics.value(ChannelCounter.NOTICES);
            if (arrived == arrivedBefore && !warned) {
                warned = true;
                LOGGER.log(
                        Level.WARNING,
                        unclosed + " messages of " + channel + " are not closed, so its peer can no longer send;"
                                + " close them, or raise ChannelOptions.withReceives");
            }
            arrivedBefore = arrived;
        }
    }
}
