package io.rdmacomm.comm.mesh;

import io.rdmacomm.comm.CommInterruptedException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import jdk.jfr.FlightRecorder;
import org.jspecify.annotations.Nullable;

/// Runs one collective at a time: it numbers the call, lets the algorithm run, and ends the collectives of the
/// mesh when that fails.
final class CollectiveEngine {
    private final MeshLinks links;
    private final CollectiveOptions options;
    private final CallLog log;
    private final Waiting waiting;
    private final Partners partners;
    private final Reducers reducers = new Reducers();
    private final MeshBuffers buffers = new MeshBuffers();
    private final RingAlgorithms ring;
    private final TreeAlgorithms trees;
    private final DoublingAlgorithms doubling;
    private final DirectAlgorithms direct;
    private final AtomicReference<@Nullable Thread> running = new AtomicReference<>();
    private boolean endTold;

    CollectiveEngine(MeshLinks links, CollectiveOptions options) {
        this.links = links;
        this.options = options;
        this.log = new CallLog(links.rank());
        this.waiting = new Waiting(links, log, this::tellState);
        this.partners = new Partners(links, options, log, waiting);
        this.ring = new RingAlgorithms(partners, buffers);
        this.trees = new TreeAlgorithms(partners, buffers);
        this.doubling = new DoublingAlgorithms(partners);
        this.direct = new DirectAlgorithms(partners, buffers);
    }

    /// As they were given.
    CollectiveOptions options() {
        return options;
    }

    private void tellState() {
        partners.tellState();
    }

    int rank() {
        return links.rank();
    }

    int size() {
        return links.size();
    }

    MeshBuffers buffers() {
        return buffers;
    }

    /// Runs a collective. The arguments fit each other.
    ///
    /// @param count elements of the longer side
    /// @param from what this rank gives
    /// @param into what it gets
    /// @param registered whether peers write into `into`
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
        enter(kind);
        CollectiveEvent event = FlightRecorder.isInitialized() ? new CollectiveEvent() : null;
        try {
            checkOpen();
            if (event != null) {
                event.begin();
            }
            waiting.begin(timeout);
            log.begin(count, Call.code(kind, from.type(), reduction, algorithm, registered, root));
            if (size() > 1) {
                partners.compareEarly();
                partners.setUp();
                start(kind, algorithm, from, into, reduction, root);
                partners.awaitUserWrites();
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

    private void enter(CollectiveKind kind) {
        Thread other = running.compareAndExchange(null, Thread.currentThread());
        if (other != null) {
            throw new IllegalStateException("thread " + other.getName()
                    + " is in a collective of this mesh; a mesh does one at a time, so this " + kind.label()
                    + " must wait for it");
        }
    }

    private void checkOpen() {
        links.checkOpen();
        Fault fault = log.fault();
        if (fault != null) {
            throw fault.refusal();
        }
    }

    private void checkFault() {
        Fault fault = log.fault();
        if (fault != null) {
            throw fault.failure();
        }
    }

    private void start(
            CollectiveKind kind,
            Algorithm algorithm,
            Elements from,
            Elements into,
            @Nullable Reduction reduction,
            int root) {
        switch (kind) {
            case BARRIER -> doubling.barrier();
            case BROADCAST -> trees.broadcast(algorithm, into, root);
            case ALL_GATHER, ALLOCATE -> allGather(algorithm, from, into);
            case ALL_TO_ALL -> direct.allToAll(from, into);
            case REDUCE, ALL_REDUCE, REDUCE_SCATTER -> {
                if (reduction == null) {
                    throw new IllegalArgumentException(kind.label() + " needs a reduction");
                }
                reduce(kind, algorithm, from, into, reducers.of(from.type(), reduction), root);
            }
        }
    }

    private void reduce(
            CollectiveKind kind, Algorithm algorithm, Elements from, Elements into, Reducer reducer, int root) {
        if (kind == CollectiveKind.REDUCE) {
            trees.reduce(algorithm, from, into, reducer, root);
        } else if (kind == CollectiveKind.REDUCE_SCATTER) {
            if (algorithm == Algorithm.DIRECT) {
                direct.reduceScatter(from, into, reducer);
            } else {
                ring.reduceScatter(from, into, reducer);
            }
        } else if (algorithm == Algorithm.RING) {
            ring.allReduce(from, into, reducer);
        } else if (algorithm == Algorithm.RECURSIVE_DOUBLING) {
            copy(from, into, 0);
            doubling.allReduce(into, reducer);
        } else {
            trees.allReduce(algorithm, from, into, reducer);
        }
    }

    private void allGather(Algorithm algorithm, Elements from, Elements into) {
        copy(from, into, rank() * from.bytes());
        if (algorithm == Algorithm.RING) {
            ring.allGather(into);
        } else {
            doubling.allGather(into);
        }
    }

    /// A rank that is alone gets what it gives.
    private static void alone(Elements from, Elements into) {
        copy(from, into, 0);
    }

    private static void copy(Elements from, Elements into, long offset) {
        if (!from.isSame(into)) {
            MemorySegment.copy(from.segment(), 0, into.segment(), offset, from.bytes());
        }
    }

    /// A call that has begun and not ended well leaves the ranks in different places, so nothing can follow it. A
    /// node that has failed needs no words: the mesh itself tells all.
    private void fail(Throwable why) {
        log.fail(new Fault(Fault.OTHER, String.valueOf(why.getMessage())));
        Fault fault = log.fault();
        if (fault != null && !endTold && !(why instanceof NodeFailedException)) {
            endTold = true;
            partners.tellEnd(fault);
        }
        if (why instanceof CommInterruptedException) {
            Thread.currentThread().interrupt();
        }
    }

    private void commit(CollectiveEvent event, CollectiveKind kind, Algorithm algorithm, long bytes) {
        event.end();
        if (event.shouldCommit()) {
            Fault fault = log.fault();
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
