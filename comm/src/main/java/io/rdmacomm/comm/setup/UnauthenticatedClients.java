package io.rdmacomm.comm.setup;

import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// The unauthenticated connections that have not sent HELLO yet. There is always room for one more: the one
/// that has been silent for longest is closed, of the same origin if that has used its share, otherwise of
/// all. So silent connections cannot block other clients. Thread-safe.
public final class UnauthenticatedClients {
    private final int most;
    private final int mostOfAnOrigin;
    private final ReentrantLock lock = new ReentrantLock();
    private final LinkedHashSet<TcpConnector> all = new LinkedHashSet<>();
    private final Map<Origin, LinkedHashSet<TcpConnector>> byOrigin = new HashMap<>();

    /// Room for `most` at a time.
    ///
    /// @param mostOfAnOrigin the share of each origin
    public UnauthenticatedClients(int most, int mostOfAnOrigin) {
        this.most = most;
        this.mostOfAnOrigin = mostOfAnOrigin;
    }

    /// Adds a connection, until [#leave]. A connection that it displaces receives the reason and is closed.
    public void add(TcpConnector newest) {
        TcpConnector displaced = replace(newest);
        if (displaced != null) {
            displaced.displace();
        }
    }

    private @Nullable TcpConnector replace(TcpConnector newest) {
        Origin origin = Origin.of(newest.remoteAddress());
        lock.lock();
        try {
            LinkedHashSet<TcpConnector> same = byOrigin.get(origin);
            TcpConnector displaced = null;
            if (same != null && same.size() >= mostOfAnOrigin) {
                displaced = same.getFirst();
            } else if (all.size() >= most) {
                displaced = all.getFirst();
            }
            if (displaced != null) {
                remove(displaced);
            }
            all.add(newest);
            byOrigin.computeIfAbsent(origin, _ -> new LinkedHashSet<>()).add(newest);
            return displaced;
        } finally {
            lock.unlock();
        }
    }

    /// A connection has ended, or is no longer a newcomer. Idempotent.
    public void leave(TcpConnector connection) {
        lock.lock();
        try {
            remove(connection);
        } finally {
            lock.unlock();
        }
    }

    private void remove(TcpConnector connection) {
        if (all.remove(connection)) {
            var _ = byOrigin.computeIfPresent(Origin.of(connection.remoteAddress()), (_, same) -> {
                same.remove(connection);
                return same.isEmpty() ? null : same;
            });
        }
    }
}
