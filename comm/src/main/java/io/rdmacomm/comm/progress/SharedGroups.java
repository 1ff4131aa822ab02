package io.rdmacomm.comm.progress;

import io.rdmacomm.verbs.service.Closer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/// The completion groups of a session, among which its endpoints are divided: each endpoint has all its channels in the
/// group that had the fewest endpoints. Thread-safe.
public final class SharedGroups implements AutoCloseable {
    private final List<CompletionGroup> groups = new ArrayList<>();
    private final List<CompletionLoop> loops = new ArrayList<>();
    private final int[] users;

    /// Creates the groups, and starts a thread for each that callers do not poll.
    ///
    /// @param make creates group number i, counted from 0
    public SharedGroups(int count, IntFunction<CompletionGroup> make) {
        users = new int[count];
        boolean complete = false;
        try {
            for (int i = 0; i < count; i++) {
                groups.add(make.apply(i));
            }
            for (CompletionGroup group : groups) {
                if (!group.isCallerDriven()) {
                    loops.add(new CompletionLoop(group, group.newIdleStrategy()).start());
                }
            }
            complete = true;
        } finally {
            if (!complete) {
                stop();
                close();
            }
        }
    }

    /// The group for an endpoint that is being created, until the lease is closed.
    public synchronized GroupLease lease() {
        int least = 0;
        for (int i = 1; i < users.length; i++) {
            least = users[i] < users[least] ? i : least;
        }
        users[least]++;
        int chosen = least;
        return new GroupLease(groups.get(chosen), () -> {}, () -> release(chosen));
    }

    private synchronized void release(int group) {
        users[group]--;
    }

    /// The group that callers drive; null if there is none.
    public @Nullable CompletionGroup callerDriven() {
        return groups.stream()
                .filter(CompletionGroup::isCallerDriven)
                .findFirst()
                .orElse(null);
    }

    /// Stops the threads.
    public void stop() {
        loops.forEach(loop -> Closer.step(this, loop::close));
    }

    /// Closes the groups, whose threads were stopped.
    @Override
    public void close() {
        groups.forEach(group -> Closer.step(group.name(), group::close));
    }
}
