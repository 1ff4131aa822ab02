package io.rdmacomm.comm.setup;

import io.rdmacomm.comm.setup.SetupException.Reason;
import io.rdmacomm.verbs.service.Origin;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.SequencedSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// The queue of setups of unauthenticated clients that have sent HELLO. Each address has a number of turns. Clients
/// without a turn are queued, and the newest is served first; a client that has a turn, but was silent for a
/// second, is displaced if another is queued. So a client gets a turn within its deadline, even if its address is
/// full of silent strangers. Thread-safe.
public final class SetupLine {
    private static final long GRACE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final int share;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<Origin, OfOrigin> origins = new HashMap<>();

    /// The clients of one address.
    private static final class OfOrigin {
        /// The oldest first.
        private final SequencedSet<Turn> turns = new LinkedHashSet<>();
        /// The newest last.
        private final Deque<Condition> line = new ArrayDeque<>();

        void wakeNewest() {
            Condition newest = line.peekLast();
            if (newest != null) {
                newest.signal();
            }
        }
    }

    /// @param share the number of turns of one address
    public SetupLine(int share) {
        this.share = share;
    }

    /// Waits for a turn. Blocks.
    ///
    /// @param client the connection to displace if it is silent
    /// @param timeout how long to wait at most
    /// @throws SetupException BUSY if there was none in time, which is also sent to the client; INTERRUPTED
    public Turn enter(TcpConnector client, Duration timeout) {
        try {
            return entered(client, timeout);
        } catch (SetupException e) {
            if (e.reason() == Reason.BUSY) {
                client.refuse(FrameType.BUSY, String.valueOf(e.getMessage()));
            }
            throw e;
        }
    }

    private Turn entered(TcpConnector client, Duration timeout) {
        long deadline = System.nanoTime() + timeout.toNanos();
        InetAddress from = client.remoteAddress();
        Origin origin = Origin.of(from);
        Turn displaced;
        Turn turn = new Turn(origin, client);
        lock.lock();
        try {
            OfOrigin same = origins.computeIfAbsent(origin, _ -> new OfOrigin());
            displaced = await(same, from, deadline);
            if (displaced != null) {
                same.turns.remove(displaced);
            }
            same.turns.add(turn);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SetupException(Reason.INTERRUPTED, "interrupted while others were being set up", e);
        } finally {
            tidy(origin);
            lock.unlock();
        }
        if (displaced != null) {
            displaced.client.displace();
        }
        return turn;
    }

    /// Waits until this is the newest in the queue and there is room.
    ///
    /// @return the turn to displace; null if none
    private @Nullable Turn await(OfOrigin same, InetAddress from, long deadline) throws InterruptedException {
        if (same.turns.size() < share) {
            return null;
        }
        Condition self = lock.newCondition();
        same.line.addLast(self);
        try {
            while (true) {
                boolean newest = self.equals(same.line.peekLast());
                long now = System.nanoTime();
                long left = deadline - now;
                if (newest && same.turns.size() < share) {
                    return null;
                }
                if (newest) {
                    for (Turn turn : same.turns) {
                        if (turn.silentSince != 0 && now - turn.silentSince >= GRACE_NANOS) {
                            return turn;
                        }
                        left = turn.silentSince == 0 ? left : Math.min(left, turn.silentSince + GRACE_NANOS - now);
                    }
                }
                if (deadline - now <= 0) {
                    throw new SetupException(
                            Reason.BUSY,
                            "too many clients of " + from.getHostAddress() + " are being set up; try again");
                }
                var _ = self.awaitNanos(left);
            }
        } finally {
            same.line.remove(self);
            same.wakeNewest();
        }
    }

    private void tidy(Origin origin) {
        OfOrigin same = origins.get(origin);
        if (same != null && same.turns.isEmpty() && same.line.isEmpty()) {
            origins.remove(origin);
        }
    }

    /// The turn of one client, until it is closed.
    public final class Turn implements AutoCloseable {
        private final Origin origin;
        private final TcpConnector client;
        /// When this side began to wait for the client; 0 if it does not wait.
        private long silentSince;

        private Turn(Origin origin, TcpConnector client) {
            this.origin = origin;
            this.client = client;
        }

        /// This side now waits for the client.
        public void waits() {
            lock.lock();
            try {
                silentSince = System.nanoTime() | 1;
                OfOrigin same = origins.get(origin);
                if (same != null) {
                    same.wakeNewest();
                }
            } finally {
                lock.unlock();
            }
        }

        /// Idempotent.
        @Override
        public void close() {
            lock.lock();
            try {
                OfOrigin same = origins.get(origin);
                if (same != null) {
                    same.turns.remove(this);
                    same.wakeNewest();
                    tidy(origin);
                }
            } finally {
                lock.unlock();
            }
        }
    }
}
