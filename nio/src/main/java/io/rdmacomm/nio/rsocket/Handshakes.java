package io.rdmacomm.nio.rsocket;

import io.rdmacomm.verbs.cm.ConnectionRequest;
import io.rdmacomm.verbs.service.HalfMade;
import java.net.InetAddress;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// The incomplete handshakes of a listener. Each has a queue pair and memory, so their number is limited:
///
/// - A limited number have their turn at a time, so that the machine is not overloaded. A turn ends with the
///   handshake, or when its peer has been silent for longer than honest peers are.
/// - After its turn, an incomplete handshake keeps its place until another one needs it: the oldest is displaced.
///
/// Honest peers need longer on a busy machine, so the length of a turn adapts to the completed handshakes. If most
/// do not complete, turns stay so short that 160 a second can begin. Guarded by the lock of its listener.
final class Handshakes {
    /// A request that is being answered.
    static final class Handshake {
        private final ConnectionRequest request;
        /// A [System#nanoTime()]. The work of this side before it does not count against the peer.
        private volatile long answered = NOT_YET;

        Handshake(ConnectionRequest request) {
            this.request = request;
        }

        ConnectionRequest request() {
            return request;
        }

        InetAddress peer() {
            return request.remoteAddress().getAddress();
        }

        /// This side has answered, and now waits for the peer.
        void answered() {
            answered = System.nanoTime();
        }

        /// The time until the peer has been silent for `nanos`; at most `nanos`.
        private long untilSilentFor(long nanos, long now) {
            return answered == NOT_YET ? nanos : answered + nanos - now;
        }
    }

    private static final long NOT_YET = Long.MIN_VALUE;
    private static final int TURNS = 64;
    private static final int MOST = 256;
    private static final int LEAST = 8;
    /// The assumed time of a handshake before the first one has completed.
    private static final long FIRST_GUESS = TimeUnit.MILLISECONDS.toNanos(75);
    private static final long SHORTEST_TURN = TimeUnit.MILLISECONDS.toNanos(100);
    private static final long LONGEST_TURN = TimeUnit.SECONDS.toNanos(1);
    private static final long LONGEST_TURN_BESIDE_STRANGERS = TimeUnit.MILLISECONDS.toNanos(400);
    /// The least number of turns for which a handshake keeps its place.
    private static final int PROTECTED_TURNS = 4;
    /// Handshakes may use this fraction of the memory for sockets.
    private static final int MEMORY_SHARE = 4;

    private final HalfMade<Handshake> all;
    private final Set<Handshake> turns = new LinkedHashSet<>();
    private long usualNanos = FIRST_GUESS;
    /// The fraction of recent handshakes that completed.
    private double completed = 1;

    /// @param bytes the memory of a connection
    /// @param budget the memory of all connections
    Handshakes(long bytes, long budget) {
        int most = Math.clamp(budget / MEMORY_SHARE / bytes, LEAST, MOST);
        this.all = new HalfMade<>(most, most / 2);
    }

    private long turnNanos() {
        long longest = completed < 0.5 ? LONGEST_TURN_BESIDE_STRANGERS : LONGEST_TURN;
        return Math.clamp(2 * usualNanos, SHORTEST_TURN, longest);
    }

    /// The time until another handshake may have its turn; 0 for now.
    long untilTurn(long now) {
        long turn = turnNanos();
        turns.removeIf(each -> each.untilSilentFor(turn, now) <= 0);
        if (turns.size() < TURNS) {
            return 0;
        }
        long soonest = turn;
        for (Handshake each : turns) {
            soonest = Math.min(soonest, each.untilSilentFor(turn, now));
        }
        return soonest;
    }

    /// The time until the oldest handshake may be displaced by one with this peer; 0 for now, or if there is room.
    long untilPlace(InetAddress peer, long now) {
        Handshake oldest = all.givingWay(peer);
        return oldest == null ? 0 : Math.max(0, oldest.untilSilentFor(PROTECTED_TURNS * turnNanos(), now));
    }

    /// Begins a handshake.
    ///
    /// @return the displaced handshake, which the caller ends; null if there was room
    @Nullable
    Handshake begin(Handshake next) {
        turns.add(next);
        Handshake displaced = all.add(next, next.peer());
        if (displaced != null) {
            turns.remove(displaced);
        }
        return displaced;
    }

    /// A handshake has ended.
    ///
    /// @param complete whether there is a connection
    void end(Handshake ended, boolean complete, long now) {
        var _ = all.remove(ended);
        turns.remove(ended);
        completed += ((complete ? 1 : 0) - completed) / 16;
        if (complete) {
            usualNanos += (now - ended.answered - usualNanos) / 4;
        }
    }

    /// Removes the oldest handshake; null if there is none.
    @Nullable
    Handshake poll() {
        Handshake oldest = all.oldest();
        if (oldest != null) {
            var _ = all.remove(oldest);
        }
        return oldest;
    }
}
