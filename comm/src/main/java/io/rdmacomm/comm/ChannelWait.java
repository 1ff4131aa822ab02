package io.rdmacomm.comm;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;

/// Waits for something of some channels, and makes progress where no library thread does. Not for their handlers.
///
/// @param channels those that are waited for
/// @param deadline the last moment, of [System#nanoTime()]
/// @param interruptible whether an interrupt ends it, with a [CommInterruptedException]
record ChannelWait(List<RdmaChannel> channels, long deadline, boolean interruptible) {
    private static final long POLL_NANOS = 20_000;

    /// A wait that goes on when the thread is interrupted, as closing does.
    static ChannelWait of(List<RdmaChannel> channels, long deadline) {
        return new ChannelWait(channels, deadline, false);
    }

    /// Until nothing is in flight.
    ///
    /// @return whether that is so
    boolean untilIdle() {
        return until(RdmaAdapter::isIdle);
    }

    /// Until everything that was started before has ended, and has arrived at the peer if it did not fail.
    ///
    /// @return whether that is so
    boolean untilArrived() {
        Map<RdmaAdapter, Long> started = new HashMap<>();
        channels.forEach(
                channel -> started.put(channel.adapter(), channel.adapter().next()));
        return until(adapter -> adapter.hasArrived(started.getOrDefault(adapter, 0L)));
    }

    /// Until each message that arrived before was given to its handler, or waits to be received.
    ///
    /// @return whether that is so
    boolean untilTaken() {
        Set<CompletionGroup> taken = ConcurrentHashMap.newKeySet();
        for (RdmaChannel channel : channels) {
            CompletionGroup group = channel.adapter().group();
            if (!group.isBroken()) {
                group.submit(() -> {
                    group.drain();
                    taken.add(group);
                });
            }
        }
        return until(adapter -> taken.contains(adapter.group()));
    }

    private boolean until(Predicate<RdmaAdapter> condition) {
        boolean interrupted = false;
        boolean met = isMet(condition);
        while (!met && System.nanoTime() - deadline < 0) {
            LockSupport.parkNanos(this, POLL_NANOS);
            interrupted |= Thread.interrupted();
            if (interrupted && interruptible) {
                Thread.currentThread().interrupt();
                throw new CommInterruptedException("interrupted while waiting for the peer", null);
            }
            met = isMet(condition);
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return met;
    }

    /// Looks at all of them, so that each makes progress.
    private boolean isMet(Predicate<RdmaAdapter> condition) {
        boolean met = true;
        for (RdmaChannel channel : channels) {
            CompletionGroup group = channel.adapter().group();
            if (!group.isBroken() && !condition.test(channel.adapter())) {
                met = false;
                if (group.isCallerDriven()) {
                    group.poll();
                }
            }
        }
        return met;
    }
}
