package io.rdmacomm.mesh.collective;

import io.rdmacomm.comm.Session;
import io.rdmacomm.verbs.RdmaInterruptedException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/// Runs one collective at a time: numbers the call, runs the algorithm, and ends the collectives of the mesh if
/// that fails.
final class CollectiveEngine {
    private final CollectiveGroup group;
    private final CollectiveOptions options;
    private final CallLog log;
    private final Waiting waiting;
    private final RankConnections connections;
    private final Algorithms algorithms;
    private final AtomicReference<@Nullable Thread> running = new AtomicReference<>();
    private boolean endSent;

    CollectiveEngine(CollectiveGroup group, CollectiveOptions options) {
        this.group = group;
        this.options = options;
        this.log = new CallLog(group.rank());
        this.waiting = new Waiting(group, log, this::sendState);
        this.connections = new RankConnections(group, options, log, waiting);
        this.algorithms = new Algorithms(connections, RankTrees.of(connections.size()), new Reducers()::of);
    }

    /// The options as given.
    CollectiveOptions options() {
        return options;
    }

    private void sendState() {
        connections.sendState();
    }

    Session session() {
        return group.session();
    }

    int rank() {
        return group.rank();
    }

    int size() {
        return group.size();
    }

    /// Runs a collective. The arguments fit each other.
    ///
    /// @param count elements of the longer side
    /// @param from the input of this rank
    /// @param into the output of this rank
    /// @param registered whether peers write to `into`
    void run(
            CollectiveKind kind,
            Algorithm algorithm,
            long count,
            Elements from,
            Elements into,
            boolean registered,
            @Nullable Reduction reduction,
            int root,
            Duration timeout) {
        refuseInHandler(kind);
        enter(kind);
        CollectiveEvent event = CollectiveEvent.beginIfEnabled();
        try {
            checkOpen();
            waiting.begin(timeout);
            log.begin(count, CollectiveCall.code(kind, from.type(), reduction, algorithm, registered, root));
            if (size() > 1) {
                connections.compareEarly();
                connections.setUp();
                algorithms.run(kind, algorithm, from, into, reduction, root);
                connections.awaitUserWrites();
                checkFault();
            } else {
                alone(from, into);
            }
        } catch (RuntimeException | Error e) {
            fail(e);
            throw e;
        } finally {
            running.set(null);
            if (event != null) {
                commit(
                        event,
                        kind,
                        algorithm,
                        kind == CollectiveKind.ALLOCATE
                                ? count
                                : count * from.type().bytes());
            }
        }
    }

    /// The messages of the peers may arrive on the thread of the handler.
    private void refuseInHandler(CollectiveKind kind) {
        if (group.session().isInHandler()) {
            throw new IllegalStateException(
                    kind.label() + " in a handler would wait for itself; call it in another thread");
        }
    }

    private void enter(CollectiveKind kind) {
        Thread other = running.compareAndExchange(null, Thread.currentThread());
        if (other != null) {
            throw new IllegalStateException("thread " + other.getName()
                    + " is in a collective of this mesh; a mesh does one at a time, so this " + kind.label()
                    + " must wait for it");
        }
    }

    private void checkOpen() {
        group.checkOpen();
        CollectiveFault fault = log.fault();
        if (fault != null) {
            throw fault.refusal();
        }
    }

    private void checkFault() {
        CollectiveFault fault = log.fault();
        if (fault != null) {
            throw fault.failure();
        }
    }

    /// A single rank gets its own input.
    private static void alone(Elements from, Elements into) {
        Algorithms.copy(from, into, 0);
    }

    /// A failed call leaves the ranks in different states, so no call can follow it. Failures that all ranks learn
    /// of in another way are not sent.
    private void fail(Throwable why) {
        log.fail(new CollectiveFault(CollectiveFault.OTHER, String.valueOf(why.getMessage())));
        CollectiveFault fault = log.fault();
        if (fault != null && !endSent && !group.isKnownToAll(why)) {
            endSent = true;
            connections.sendEnd(fault);
        }
        if (why instanceof RdmaInterruptedException) {
            Thread.currentThread().interrupt();
        }
    }

    private void commit(CollectiveEvent event, CollectiveKind kind, Algorithm algorithm, long bytes) {
        event.end();
        if (event.shouldCommit()) {
            CollectiveFault fault = log.fault();
            event.kind = kind.label();
            event.algorithm = algorithm.label();
            event.bytes = bytes;
            event.rank = rank();
            event.ranks = size();
            event.failure = fault == null ? "" : fault.text();
            event.commit();
        }
    }
}
