package io.rdmacomm.comm;

import io.rdmacomm.verbs.RdmaException;
import io.rdmacomm.verbs.service.Origin;
import java.net.InetAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

/// The endpoint quota of a server. A client takes a place before anything is allocated for it. Thread-safe.
final class ClientQuota {
    private final PeerLimits limits;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<Origin, Integer> taken = new HashMap<>();
    private int all;

    ClientQuota(PeerLimits limits) {
        this.limits = limits;
    }

    /// Takes a place, until it is closed.
    ///
    /// @param from the client's address
    /// @param client its name in messages
    /// @throws RdmaException if there is no place
    Place take(InetAddress from, String client) {
        Origin origin = Origin.of(from);
        lock.lock();
        try {
            if (all >= limits.endPoints()) {
                throw refusal(client, limits.endPoints() + " endpoints", "withEndPoints");
            }
            int same = taken.getOrDefault(origin, 0);
            if (same >= limits.endPointsPerAddress()) {
                throw refusal(
                        client,
                        limits.endPointsPerAddress() + " endpoints with clients of " + from.getHostAddress(),
                        "withEndPointsPerAddress");
            }
            all++;
            taken.put(origin, same + 1);
            return new Place(origin);
        } finally {
            lock.unlock();
        }
    }

    private static RdmaException refusal(String client, String what, String option) {
        return new RdmaException(
                client + " was refused: the server has " + what
                        + " already; close those that have ended, or raise PeerLimits." + option + " of the server",
                null);
    }

    private void leave(Origin origin) {
        lock.lock();
        try {
            all--;
            var _ = taken.computeIfPresent(origin, (_, count) -> count == 1 ? null : count - 1);
        } finally {
            lock.unlock();
        }
    }

    /// The place of one client, which is free again when the client's endpoint is freed.
    final class Place implements AutoCloseable {
        private final Origin origin;
        private boolean left;

        private Place(Origin origin) {
            this.origin = origin;
        }

        /// An owner of the client's endpoint that closes this place when the endpoint is freed.
        ConnectionOwner in(ConnectionOwner owner) {
            return new ConnectionOwner() {
                @Override
                public void made(PeerConnection connection) {
                    owner.made(connection);
                }

                @Override
                public void ended() {
                    owner.ended();
                }

                @Override
                public void freed() {
                    close();
                    owner.freed();
                }
            };
        }

        /// Idempotent; not thread-safe.
        @Override
        public void close() {
            if (!left) {
                left = true;
                leave(origin);
            }
        }
    }
}
