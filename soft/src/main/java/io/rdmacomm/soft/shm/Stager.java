package io.rdmacomm.soft.shm;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.soft.mapped.ControlFile;
import io.rdmacomm.soft.mapped.SharedWords;
import io.rdmacomm.soft.memory.AtomicResult;
import io.rdmacomm.soft.memory.ElementList;
import io.rdmacomm.verbs.WorkStatus;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/// Moves data to and from memory that only its own process can access: the caller's own segments.
///
/// The initiator's stager thread puts a piece into a staging block of its control file and asks the peer's engine
/// to copy it to or from its memory. Slow, but with the same semantics. The thread starts with the first request
/// that needs it.
///
/// An answer counts only if it has the block's current ticket. A block whose request was abandoned is not reused,
/// because a slow peer may still be copying into it.
final class Stager implements AutoCloseable {
    private static final long DEADLINE_NANOS = 5_000_000_000L;
    private static final long PARK_NANOS = 1_000_000;
    private static final int SPINS = 2_000;
    private static final long JOIN_MILLIS = 6_000;

    /// Its oldest waiting request is executed on the stager's thread.
    interface Client {
        /// Executes the request; may wait for the peer.
        void runStaged();
    }

    private final String name;
    private final int lid;
    private final ControlFile control;
    private final LinkedBlockingQueue<Client> requests = new LinkedBlockingQueue<>();
    private @Nullable Thread thread;
    private volatile @Nullable Client current;
    private volatile boolean closed;
    private volatile @Nullable Client abandoned;
    private final AtomicLong copies = new AtomicLong();
    private long block;
    private long ticket;

    /// @param name of the thread
    /// @param lid of this context
    Stager(String name, int lid, ControlFile control) {
        this.name = name;
        this.lid = lid;
        this.control = control;
    }

    /// Has the oldest waiting request of `client` executed.
    synchronized void submit(Client client) {
        if (closed) {
            return;
        }
        requests.add(client);
        if (thread == null) {
            thread = Thread.ofPlatform().daemon().name(name).start(this::run);
        }
    }

    private void run() {
        while (!closed) {
            try {
                Client client = requests.take();
                current = client;
                client.runStaged();
            } catch (InterruptedException e) {
                return;
            } finally {
                current = null;
            }
        }
    }

    /// Abandons the work for `client`, and waits until it has ended.
    void abandon(Client client) {
        abandoned = client;
        requests.removeIf(client::equals);
        LockSupport.unpark(thread);
        long deadline = System.nanoTime() + DEADLINE_NANOS;
        while (client.equals(current) && System.nanoTime() < deadline) {
            LockSupport.parkNanos(PARK_NANOS / 10);
        }
    }

    /// Whether there is a block to put requests into.
    private boolean hasBlock() {
        if (block == 0) {
            try {
                block = control.allocate(StagingBlock.BYTES);
            } catch (IOException e) {
                // Without room the transfer is refused, and its queue pair fails.
                return false;
            }
        }
        return true;
    }

    /// Copies from memory of this side to memory of the peer, some of which only the peer can access.
    int put(PeerQueuePair peer, ElementList from, ElementList to, long bytes) {
        return move(peer, from, to, bytes, true);
    }

    /// Copies from memory of the peer, some of which only the peer can access, to memory of this side.
    int get(PeerQueuePair peer, ElementList from, ElementList to, long bytes) {
        return move(peer, from, to, bytes, false);
    }

    private int move(PeerQueuePair peer, ElementList from, ElementList to, long bytes, boolean put) {
        boolean moved = ElementList.forEachPiece(
                from,
                to,
                bytes,
                StagingBlock.DATA_BYTES,
                (source, sourceIndex, sourceDone, sink, sinkIndex, sinkDone, piece) ->
                        movePiece(peer, source, sourceIndex, sourceDone, sink, sinkIndex, sinkDone, piece, put));
        return moved ? Outcome.DONE : WorkStatus.REMOTE_ACCESS_ERROR.code();
    }

    private boolean movePiece(
            PeerQueuePair peer,
            ElementList from,
            int source,
            long sourceDone,
            ElementList to,
            int sink,
            long sinkDone,
            long piece,
            boolean put) {
        MemorySegment sourceSegment = from.segments[source];
        MemorySegment sinkSegment = to.segments[sink];
        long sourceAt = from.offsets[source] + sourceDone;
        long sinkAt = to.offsets[sink] + sinkDone;
        if (sourceSegment != null && sinkSegment != null) {
            ElementList.copyPiece(sourceSegment, sourceAt, sinkSegment, sinkAt, piece);
            return true;
        }
        MemorySegment own = control.memory();
        if (put && sourceSegment != null) {
            if (!hasBlock()) {
                return false;
            }
            MemorySegment.copy(sourceSegment, sourceAt, own, block + StagingBlock.DATA, piece);
            return ask(peer, StagingBlock.PUT, to.keys[sink], to.addresses[sink] + sinkDone, piece, 0, 0);
        }
        if (sinkSegment == null
                || !ask(peer, StagingBlock.GET, from.keys[source], from.addresses[source] + sourceDone, piece, 0, 0)) {
            return false;
        }
        ElementList.copyPiece(own, block + StagingBlock.DATA, sinkSegment, sinkAt, piece);
        return true;
    }

    /// Has the peer execute an atomic operation on memory that only it can access.
    int atomic(PeerQueuePair peer, boolean compare, ElementList at, long operand, long swap, ElementList result) {
        int operation = compare ? StagingBlock.COMPARE_AND_SWAP : StagingBlock.FETCH_AND_ADD;
        if (!ask(peer, operation, at.keys[0], at.addresses[0], Long.BYTES, operand, swap)) {
            return WorkStatus.REMOTE_ACCESS_ERROR.code();
        }
        AtomicResult.store(result, control.memory().get(JAVA_LONG, block + StagingBlock.OLD));
        return Outcome.DONE;
    }

    private boolean ask(PeerQueuePair peer, int operation, int key, long offset, long length, long operand, long swap) {
        Peer to = peer.peer();
        if (to == null || !hasBlock()) {
            return false;
        }
        MemorySegment own = control.memory();
        own.set(JAVA_INT, block + StagingBlock.OPERATION, operation);
        own.set(JAVA_INT, block + StagingBlock.KEY, key);
        own.set(JAVA_LONG, block + StagingBlock.OFFSET, offset);
        own.set(JAVA_LONG, block + StagingBlock.LENGTH, length);
        own.set(JAVA_LONG, block + StagingBlock.OPERAND, operand);
        own.set(JAVA_LONG, block + StagingBlock.SWAP, swap);
        long asked = (++ticket << 2) | StagingBlock.ASKED;
        SharedWords.publish(own, block + StagingBlock.STATE, asked);
        copies.incrementAndGet();
        if (to.tell(Message.STAGE, 0, lid, block) && awaitAnswer(to, asked)) {
            return (SharedWords.acquire(own, block + StagingBlock.STATE) & 3) == StagingBlock.FINISHED;
        }
        block = 0;
        return false;
    }

    private boolean awaitAnswer(Peer from, long asked) {
        long deadline = System.nanoTime() + DEADLINE_NANOS;
        int spins = 0;
        while (SharedWords.acquire(control.memory(), block + StagingBlock.STATE) == asked) {
            Client workingFor = current;
            boolean givenUp = closed || (workingFor != null && workingFor.equals(abandoned));
            if (givenUp || !from.isAlive() || System.nanoTime() > deadline) {
                return false;
            }
            if (++spins < SPINS) {
                Thread.onSpinWait();
            } else {
                LockSupport.parkNanos(PARK_NANOS);
            }
        }
        return true;
    }

    /// How many pieces the stager has asked peers to copy.
    long copies() {
        return copies.get();
    }

    /// A peer has finished what was asked of it.
    void finished() {
        LockSupport.unpark(thread);
    }

    @Override
    public void close() {
        Thread running;
        synchronized (this) {
            closed = true;
            running = thread;
        }
        if (running != null) {
            running.interrupt();
            try {
                running.join(JOIN_MILLIS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
