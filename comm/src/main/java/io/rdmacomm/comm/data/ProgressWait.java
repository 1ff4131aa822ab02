package io.rdmacomm.comm.data;

import io.rdmacomm.comm.progress.CompletionGroup;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;

/// Waits for the channels of an endpoint, and makes progress where no library thread does. Not for use in
/// their handlers.
///
/// @param adapters the channels to wait for
/// @param deadline the last moment, of [System#nanoTime()]
public record ProgressWait(List<? extends RdmaAdapter<?>> adapters, long deadline) {
    /// One of the waits.
    @FunctionalInterface
    public interface Step {
        /// Blocks.
        ///
        /// @return whether it ended before the deadline
        boolean await() throws InterruptedException;
    }

    /// Waits until everything that was started before has ended, and has arrived at the peer unless it failed.
    ///
    /// @return whether it has
    public boolean untilArrived() throws InterruptedException {
        Map<RdmaAdapter<?>, Long> started = new HashMap<>();
        adapters.forEach(adapter -> started.put(adapter, adapter.sends().next()));
        return until(adapter -> adapter.sends().hasArrived(started.getOrDefault(adapter, 0L)));
    }

    /// Waits until each message that arrived before was passed to its handler, or can be received.
    ///
    /// @return whether it was
    public boolean untilDelivered() throws InterruptedException {
        Set<CompletionGroup> delivered = ConcurrentHashMap.newKeySet();
        for (CompletionGroup group : groups()) {
            if (!group.isBroken()) {
                group.submit(() -> {
                    group.drain();
                    delivered.add(group);
                });
            }
        }
        return until(adapter -> delivered.contains(adapter.group()));
    }

    /// Waits until no operation of the user is in flight.
    ///
    /// @return whether none is
    public boolean untilIdle() throws InterruptedException {
        return until(adapter -> adapter.sends().inFlight() == 0);
    }

    /// Waits until devices that flush have flushed everything in flight.
    ///
    /// @param polling whether to poll where no library thread does
    public void untilFlushed(boolean polling) throws InterruptedException {
        BooleanSupplier flushed = () -> all(RdmaAdapter::isFlushed);
        var _ = polling
                ? CompletionGroup.await(groups(), flushed, deadline)
                : CompletionGroup.awaitOthers(groups(), flushed, deadline);
    }

    private boolean until(Predicate<RdmaAdapter<?>> condition) throws InterruptedException {
        return CompletionGroup.await(groups(), () -> all(condition), deadline);
    }

    /// Evaluates the condition for all channels, because that may start an arrival read.
    private boolean all(Predicate<RdmaAdapter<?>> condition) {
        boolean met = true;
        for (RdmaAdapter<?> adapter : adapters) {
            met &= adapter.group().isBroken() || condition.test(adapter);
        }
        return met;
    }

    private Collection<CompletionGroup> groups() {
        Set<CompletionGroup> groups = new HashSet<>();
        adapters.forEach(adapter -> groups.add(adapter.group()));
        return groups;
    }
}
