package io.rdmacomm.mesh;

import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.PeerFailedException;
import io.rdmacomm.mesh.join.NodeList;
import io.rdmacomm.verbs.DeadlineException;
import io.rdmacomm.verbs.RdmaException;
import io.rdmacomm.verbs.RdmaInterruptedException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// The nodes that this one is connected with, and the first failure of one of them, which it sends to the
/// others. Thread-safe.
final class Nodes implements NodeList {
    private final int own;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final @Nullable Node[] nodes;
    private final List<Thread> notifiers = new ArrayList<>();
    private @Nullable RdmaException joinFailure;
    private @Nullable NodeFailedException failure;
    private boolean allReady;
    private boolean closed;

    /// @param own the rank of this node
    Nodes(int own, int size) {
        this.own = own;
        this.nodes = new @Nullable Node[size];
    }

    int size() {
        return nodes.length;
    }

    @Override
    public boolean add(int rank, String host, EndPoint endPoint) {
        lock.lock();
        try {
            if (closed || failure != null || nodes[rank] != null) {
                return false;
            }
            nodes[rank] = new Node(rank, host, endPoint);
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        noteFailures();
        return true;
    }

    @Override
    public void allReady() {
        change(() -> allReady = true);
    }

    @Override
    public void joinFailed(RdmaException why) {
        change(() -> joinFailure = joinFailure == null ? why : joinFailure);
    }

    private void change(Runnable step) {
        lock.lock();
        try {
            step.run();
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void awaitConnected(long deadline) {
        await(() -> absent().isEmpty(), deadline, "nodes that did not connect: ranks ");
    }

    @Override
    public void awaitReady(long deadline) {
        await(() -> allReady, deadline, "the others were not all connected with each other");
    }

    private void await(BooleanSupplier condition, long deadline, String otherwise) {
        lock.lock();
        try {
            while (!condition.getAsBoolean()) {
                checkJoining();
                long left = deadline - System.nanoTime();
                if (left <= 0) {
                    throw new DeadlineException(
                            "the mesh was not complete in time; " + otherwise
                                    + absent().stream().map(String::valueOf).collect(Collectors.joining(", ")),
                            null);
                }
                var _ = changed.await(left, TimeUnit.NANOSECONDS);
            }
            checkJoining();
        } catch (InterruptedException e) {
            throw new RdmaInterruptedException("interrupted while joining a mesh", e);
        } finally {
            lock.unlock();
        }
    }

    private void checkJoining() {
        if (failure != null) {
            throw failure.again();
        }
        if (joinFailure != null) {
            throw joinFailure;
        }
    }

    private List<Integer> absent() {
        return IntStream.range(0, nodes.length)
                .filter(rank -> rank != own && nodes[rank] == null)
                .boxed()
                .toList();
    }

    /// @throws IndexOutOfBoundsException if there is no such rank
    @Nullable
    Node node(int rank) {
        lock.lock();
        try {
            return nodes[Objects.checkIndex(rank, nodes.length)];
        } finally {
            lock.unlock();
        }
    }

    /// The other nodes, by rank.
    List<Node> peers() {
        lock.lock();
        try {
            List<Node> peers = new ArrayList<>(nodes.length);
            for (Node node : nodes) {
                if (node != null) {
                    peers.add(node);
                }
            }
            return peers;
        } finally {
            lock.unlock();
        }
    }

    /// The first failure, or null.
    @Nullable
    NodeFailedException failure() {
        lock.lock();
        try {
            return failure;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public @Nullable RdmaException joinFailure() {
        lock.lock();
        try {
            return joinFailure == null ? failure : joinFailure;
        } finally {
            lock.unlock();
        }
    }

    boolean isClosed() {
        lock.lock();
        try {
            return closed;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public boolean ended(EndPoint endPoint, @Nullable RdmaException why) {
        for (Node node : peers()) {
            if (node.endPoint().equals(endPoint)) {
                if (why != null) {
                    fail(node, why);
                }
                return true;
            }
        }
        return false;
    }

    /// Records failed connections that were not reported to a listener yet.
    void noteFailures() {
        for (Node node : peers()) {
            RdmaException why = node.endPoint().failure();
            if (why != null) {
                fail(node, why);
            }
        }
    }

    private void fail(Node node, RdmaException why) {
        fail(blame(node, why));
    }

    /// Ends the mesh, unless it has ended, and sends the others the reason.
    void fail(NodeFailedException why) {
        lock.lock();
        try {
            if (failure != null || closed) {
                return;
            }
            failure = why;
            changed.signalAll();
            for (Node node : nodes) {
                if (node != null) {
                    notify(node, why);
                }
            }
        } finally {
            lock.unlock();
        }
    }

    /// Without a thread for one node, the others still learn it.
    private void notify(Node node, NodeFailedException why) {
        try {
            notifiers.add(Thread.ofVirtual()
                    .name("rdmacomm-notify-" + node.rank())
                    .start(() -> node.endPoint().abort(why.rank(), why)));
        } catch (RuntimeException | Error e) {
            why.addSuppressed(e);
        }
    }

    /// A node that aborts names the node that it has lost, which may be this one. A node that just disappears has
    /// failed itself.
    private NodeFailedException blame(Node node, RdmaException why) {
        if (why instanceof PeerFailedException failed
                && failed.reason() == PeerFailedException.Reason.ABORTED
                && failed.code() >= 0
                && failed.code() < nodes.length) {
            return new NodeFailedException(failed.code(), failed.peerMessage(), why);
        }
        return new NodeFailedException(
                node.rank(), "the mesh has lost rank " + node.rank() + ": " + why.getMessage(), why);
    }

    /// Records failures so far, and waits until the others were notified. After that, the end of a connection is
    /// not a failure.
    @Override
    public void close() {
        noteFailures();
        List<Thread> threads;
        lock.lock();
        try {
            closed = true;
            threads = List.copyOf(notifiers);
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        boolean interrupted = false;
        for (Thread thread : threads) {
            interrupted |= !joined(thread);
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /// A notification takes a bounded time, so an interrupt does not end the wait.
    private static boolean joined(Thread thread) {
        boolean interrupted = false;
        while (true) {
            try {
                thread.join();
                return !interrupted;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
    }
}
