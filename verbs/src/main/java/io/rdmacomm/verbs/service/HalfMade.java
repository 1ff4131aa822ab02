package io.rdmacomm.verbs.service;

import java.net.InetAddress;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.SequencedSet;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// The connections of a server whose handshake is not complete. There is always room for one more: it displaces the
/// oldest, of the same origin if that has used its share, otherwise of all. So silent connections cannot keep
/// others out. Thread-safe.
///
/// @param <C> the connections; compared by [Object#equals]
public final class HalfMade<C> {
    private final int most;
    private final int mostOfAnOrigin;
    private final ReentrantLock lock = new ReentrantLock();
    private final LinkedHashMap<C, Origin> all = new LinkedHashMap<>();
    private final Map<Origin, SequencedSet<C>> byOrigin = new HashMap<>();

    /// Has room for `most` connections at a time.
    ///
    /// @param mostOfAnOrigin the share of each origin
    public HalfMade(int most, int mostOfAnOrigin) {
        this.most = most;
        this.mostOfAnOrigin = mostOfAnOrigin;
    }

    /// Adds a connection, until [#remove].
    ///
    /// @param from the address of its peer
    /// @return the displaced connection, which the caller ends; null if there was room
    public @Nullable C add(C newest, InetAddress from) {
        Origin origin = Origin.of(from);
        lock.lock();
        try {
            C displaced = givingWay(origin);
            if (displaced != null) {
                var _ = remove(displaced);
            }
            all.put(newest, origin);
            byOrigin.computeIfAbsent(origin, _ -> new LinkedHashSet<>()).add(newest);
            return displaced;
        } finally {
            lock.unlock();
        }
    }

    /// The connection that another one would displace.
    ///
    /// @param from the address of the other one's peer
    /// @return null if there is room
    public @Nullable C givingWay(InetAddress from) {
        lock.lock();
        try {
            return givingWay(Origin.of(from));
        } finally {
            lock.unlock();
        }
    }

    private @Nullable C givingWay(Origin origin) {
        SequencedSet<C> same = byOrigin.get(origin);
        if (same != null && same.size() >= mostOfAnOrigin) {
            return same.getFirst();
        }
        return all.size() < most ? null : all.firstEntry().getKey();
    }

    /// Removes a connection that has ended, or whose handshake is complete.
    ///
    /// @return false if it was displaced or removed before
    public boolean remove(C connection) {
        lock.lock();
        try {
            Origin origin = all.remove(connection);
            if (origin == null) {
                return false;
            }
            var _ = byOrigin.computeIfPresent(origin, (_, same) -> {
                same.remove(connection);
                return same.isEmpty() ? null : same;
            });
            return true;
        } finally {
            lock.unlock();
        }
    }

    /// The oldest one; null if there is none.
    public @Nullable C oldest() {
        lock.lock();
        try {
            return all.isEmpty() ? null : all.firstEntry().getKey();
        } finally {
            lock.unlock();
        }
    }

    /// The number of connections.
    public int size() {
        lock.lock();
        try {
            return all.size();
        } finally {
            lock.unlock();
        }
    }
}
