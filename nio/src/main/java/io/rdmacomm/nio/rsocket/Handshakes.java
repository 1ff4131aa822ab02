package io.rdmacomm.nio.rsocket;

import io.rdmacomm.verbs.cm.ConnectionRequest;
import io.rdmacomm.verbs.service.HalfMade;
import java.net.InetAddress;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// The handshakes of a listener that are not complete. Each has a queue pair and memory, so their number is limited:
///
/// - So many have their turn at a time that the machine is not overloaded. A turn ends with the handshake, or when its
///   peer was silent for longer than honest ones are.
/// - A handshake that is not complete then keeps its place until another one needs it: the oldest gives way.
///
/// Honest peers need longer on a busy machine, so the length of a turn follows the handshakes that were completed. If
/// most are not, it stays so short that 160 a second can begin. Under the lock of its listener.
final class Handshakes {
    /// A request that is being answered.
    static final class Handshake {
        private final ConnectionRequest request;
        /// By [System#nanoTime()]; what this side does before does not count against the peer.
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

        /// It is the peer's turn now.
        void answered() {
            answered = System.nanoTime();
        }

        /// The time until its peer has been silent for so long; at most that time.
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
    /// A handshake keeps its place for at least so many turns.
    private static final int PROTECTED_TURNS = 4;
    /// The part of the memory for sockets that handshakes may have.
    private static final int MEMORY_SHARE = 4;

    private final HalfMade<Handshake> all;
    private final Set<Handshake> turns = new LinkedHashSet<>();
    private long usualNanos = FIRST_GUESS;
    /// The part of the last handshakes that was completed.
    private double completed = 1;

    /// @param bytes of a connection
    /// @param budget the bytes of all connections
    Handshakes(long bytes, long budget) {
        int most = Math.clamp(budget / MEMORY_SHARE / bytes, LEAST, MOST);
        this.all = new HalfMade<>(most, most / 2);
    }

    private long turnNanos() {
        long longest = completed < 0.5 ? LONGEST_TURN_BESIDE_STRANGERS : LONGEST_TURN;
        return Math.clamp(2 * usualNanos, SHORTEST_TURN, longest);
    }

    /// How long until another handshake may have its turn; 0 for now.
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

    /// How long until the oldest handshake may give way to one with this peer; 0 for now, or if there is room.
    long untilPlace(InetAddress peer, long now) {
        Handshake oldest = all.givingWay(peer);
        return oldest == null ? 0 : Math.max(0, oldest.untilSilentFor(PROTECTED_TURNS * turnNanos(), now));
    }

    /// Begins a handshake.
    ///
    /// @return the one that gives way, which the caller ends; null if there was room
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
