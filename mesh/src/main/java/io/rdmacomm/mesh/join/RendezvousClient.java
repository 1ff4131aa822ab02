package io.rdmacomm.mesh.join;

import io.rdmacomm.comm.SetupFailedException;
import io.rdmacomm.comm.SetupFailedException.Reason;
import io.rdmacomm.comm.exchange.Exchange;
import io.rdmacomm.comm.exchange.ExchangeOptions;
import io.rdmacomm.mesh.launch.MeetingPoint;
import io.rdmacomm.verbs.DeadlineException;
import io.rdmacomm.verbs.RdmaException;
import io.rdmacomm.verbs.RdmaInterruptedException;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;

/// A node's exchange with the rendezvous.
final class RendezvousClient implements AutoCloseable {
    /// The time for which a node waits beyond its own timeout, for the answer of the rendezvous that names the
    /// missing ranks.
    private static final Duration GRACE = Duration.ofSeconds(2);
    private static final Duration ATTEMPT = Duration.ofSeconds(5);
    private static final Duration SHORT_ATTEMPT = Duration.ofSeconds(1);
    private static final long SHORTEST_PAUSE_NANOS = 20_000_000;
    private static final long LONGEST_PAUSE_NANOS = 100_000_000;

    private final MeetingPoint rendezvous;
    private final ExchangeOptions options;
    private final long deadline;
    private volatile Exchange exchange;
    private volatile boolean closed;

    private RendezvousClient(MeetingPoint rendezvous, ExchangeOptions options, long deadline) {
        this.rendezvous = rendezvous;
        this.options = options;
        this.deadline = deadline;
        this.exchange = connect();
    }

    /// Connects, agrees on a version and proves the secret, if any. Retries until the deadline while the rendezvous is
    /// busy with strangers or absent, because the node that listens may start later.
    ///
    /// @param deadline a [System#nanoTime()]
    static RendezvousClient reach(MeetingPoint rendezvous, ExchangeOptions options, long deadline) {
        return new RendezvousClient(rendezvous, options, deadline);
    }

    private Exchange connect() {
        RdmaException before = null;
        while (true) {
            RdmaException failure = null;
            boolean isShort = left().compareTo(SHORT_ATTEMPT) < 0;
            for (String host : rendezvous.hosts()) {
                try {
                    Duration left = left();
                    Duration attempt = left.compareTo(ATTEMPT) < 0 ? left : ATTEMPT;
                    return Exchange.connect(host, rendezvous.port(), options.withStep(left), attempt);
                } catch (RdmaException e) {
                    boolean better = failure == null || (isTemporary(failure) && !isTemporary(e));
                    failure = better ? e : failure;
                }
            }
            if (isShort && before != null && failure instanceof DeadlineException) {
                // The last attempt had too little time to tell more than the one before.
                failure = before;
            }
            if (failure != null && (!isTemporary(failure) || !pause())) {
                throw unreached(failure);
            }
            before = failure;
        }
    }

    private boolean isTemporary(RdmaException e) {
        if (e instanceof SetupFailedException failed) {
            return switch (failed.reason()) {
                // The node that listens has opened the port before.
                case REFUSED -> isAbsent(failed) && !rendezvous.isListener();
                case BUSY -> true;
                case HOST_UNKNOWN -> rendezvous.mayAppearLater();
                default -> false;
            };
        }
        return e instanceof DeadlineException;
    }

    /// Waits for a random time, so that the nodes do not all retry together. An interrupt ends the wait, and its flag
    /// stays set.
    ///
    /// @return false, at once, if the deadline comes first
    private boolean pause() {
        long nanos = ThreadLocalRandom.current().nextLong(SHORTEST_PAUSE_NANOS, LONGEST_PAUSE_NANOS);
        if (deadline - System.nanoTime() <= nanos) {
            return false;
        }
        LockSupport.parkNanos(nanos);
        return true;
    }

    private RdmaException unreached(RdmaException e) {
        String words = rendezvous.isListener() && isAbsent(e)
                ? "this node listens for the others, but is not on host " + rendezvous.host()
                        + "; give the address of this host as rendezvous"
                : String.valueOf(e.getMessage());
        return failure("rendezvous of " + rendezvous + ": " + words, e);
    }

    /// Whether no program listens there. A refusal by a program has no cause in the network.
    private static boolean isAbsent(RdmaException e) {
        Throwable cause = e.getCause();
        return isFor(Reason.REFUSED, e) && cause != null && cause.getCause() instanceof IOException;
    }

    private static boolean isFor(Reason reason, RdmaException e) {
        return e instanceof SetupFailedException failed && failed.reason() == reason;
    }

    /// A failure of the same kind with another message.
    static RdmaException failure(String message, RdmaException e) {
        return switch (e) {
            case SetupFailedException failed -> new SetupFailedException(failed.reason(), message, e);
            case DeadlineException _ -> new DeadlineException(message, e);
            case RdmaInterruptedException _ -> new RdmaInterruptedException(message, e);
            default -> new RdmaException(message, e);
        };
    }

    /// The address at which the rendezvous was found.
    InetAddress address() {
        return exchange.remoteAddress();
    }

    /// Registers, and waits until all others have registered. Connects again if the rendezvous is busy with strangers.
    ///
    /// @param lowest the lowest version that this node supports
    NodeTable register(NodeRegistration own, int lowest) {
        while (true) {
            try {
                exchange.send(own.encode());
                return table(own.size(), lowest);
            } catch (RdmaException e) {
                if (!isFor(Reason.BUSY, e) || closed || !pause()) {
                    throw incomplete(e);
                }
            }
            exchange.close();
            exchange = connect();
            if (closed) {
                exchange.close();
            }
        }
    }

    private NodeTable table(int size, int lowest) {
        ByteBuffer message = receive();
        try {
            NodeTable table = NodeTable.decode(message, size, exchange.version(), exchange.features());
            if (table.version() < lowest) {
                throw new SetupFailedException(
                        Reason.OTHER_VERSION,
                        "another node speaks version " + table.version() + " of the mesh protocol at most, this one "
                                + lowest + " at least; update rdmacomm on the other node",
                        null);
            }
            return table;
        } catch (IllegalArgumentException e) {
            throw violation(e);
        }
    }

    private SetupFailedException violation(IllegalArgumentException e) {
        return new SetupFailedException(
                Reason.PROTOCOL_VIOLATED, "the rendezvous at " + address() + ": " + e.getMessage(), e);
    }

    /// Reports that this node is connected with all others.
    void ready() {
        try {
            exchange.send(MessageType.READY.begin(0).flip());
        } catch (RdmaException e) {
            // The thread in awaitAll reports why.
        }
    }

    /// Waits until all nodes, this one included, are connected with all others.
    ///
    /// @throws RdmaException if one of them has given up or died, or time is up
    void awaitAll() {
        try {
            MessageType.READY.takeFrom(receive());
        } catch (IllegalArgumentException e) {
            throw violation(e);
        } catch (RdmaException e) {
            throw incomplete(e);
        }
    }

    /// The rendezvous rejects this node when the time is up, and names the missing ranks.
    private RdmaException incomplete(RdmaException e) {
        String words = "the mesh is not complete: " + e.getMessage();
        boolean late = isFor(Reason.REFUSED, e) && System.nanoTime() - deadline >= 0;
        return late ? new DeadlineException(words, e) : failure(words, e);
    }

    private ByteBuffer receive() {
        return exchange.receive(left().plus(GRACE));
    }

    private Duration left() {
        return Duration.ofNanos(Math.max(1_000_000, deadline - System.nanoTime()));
    }

    @Override
    public void close() {
        closed = true;
        exchange.close();
    }
}
