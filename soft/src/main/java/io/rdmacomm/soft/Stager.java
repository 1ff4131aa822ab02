package io.rdmacomm.soft;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.soft.shm.Message;
import io.rdmacomm.soft.shm.Peer;
import io.rdmacomm.soft.shm.SharedWords;
import io.rdmacomm.verbs.WorkStatus;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/// Moves data to and from memory that only its own process can reach: the caller's own segments.
///
/// The initiator's stager thread puts a piece into a staging block of its control file and asks the peer's engine
/// to copy it to or from its memory. Slow, but the same semantics; it starts with the first request that needs it.
///
/// ```
/// +0 ticket << 2 | state: 1 asked, 2 done, 3 refused | +8 region key | +16 offset | +24 length
/// +32 compare or add | +40 swap | +48 old value | +56 operation | +64 data
/// ```
/// An answer counts only while its ticket is the block's. A block whose request was given up is not used again: a
/// slow peer may still be copying into it.
final class Stager implements AutoCloseable {
    private static final int STATE = 0;
    private static final int OPERATION = 56;
    private static final int KEY = 8;
    private static final int OFFSET = 16;
    private static final int LENGTH = 24;
    private static final int OPERAND = 32;
    private static final int SWAP = 40;
    private static final int OLD = 48;
    private static final int DATA = 64;
    private static final int DATA_BYTES = 256 * 1024;

    private static final int ASKED = 1;
    private static final int FINISHED = 2;
    private static final int REFUSED = 3;

    private static final int PUT = 0;
    private static final int GET = 1;
    private static final int COMPARE_AND_SWAP = 2;
    private static final int FETCH_AND_ADD = 3;

    private static final long DEADLINE_NANOS = 5_000_000_000L;
    private static final long PARK_NANOS = 1_000_000;
    private static final int SPINS = 2_000;
    private static final long JOIN_MILLIS = 6_000;

    private final SoftContext context;
    private final LinkedBlockingQueue<Object> requests = new LinkedBlockingQueue<>();
    private @Nullable Thread thread;
    private volatile @Nullable SoftQueuePair current;
    private volatile boolean closed;
    private volatile @Nullable SoftQueuePair abandoned;
    private long block;
    private long ticket;

    Stager(SoftContext context) {
        this.context = context;
    }

    /// Has the oldest waiting request of `queuePair` carried out.
    synchronized void submit(SoftQueuePair queuePair) {
        if (closed) {
            return;
        }
        requests.add(queuePair);
        if (thread == null) {
            thread = Thread.ofPlatform()
                    .daemon()
                    .name(context.device().name() + "-" + context.lid() + "-stager")
                    .start(this::run);
        }
    }

    private void run() {
        while (!closed) {
            try {
                if (requests.take() instanceof SoftQueuePair queuePair) {
                    current = queuePair;
                    queuePair.sends().runStaged();
                }
            } catch (InterruptedException e) {
                return;
            } finally {
                current = null;
            }
        }
    }

    /// Gives up what is being done for `queuePair`, and waits until nothing is.
    void abandon(SoftQueuePair queuePair) {
        abandoned = queuePair;
        requests.removeIf(queuePair::equals);
        LockSupport.unpark(thread);
        long deadline = System.nanoTime() + DEADLINE_NANOS;
        while (queuePair.equals(current) && System.nanoTime() < deadline) {
            LockSupport.parkNanos(PARK_NANOS / 10);
        }
    }

    /// Whether there is a block to put requests into.
    private boolean hasBlock() {
        if (block == 0) {
            try {
                block = context.control().allocate(DATA + DATA_BYTES);
            } catch (IOException e) {
                // Without room the transfer is refused, and its queue pair fails.
                return false;
            }
        }
        return true;
    }

    /// Copies from memory of this side to memory of the peer, some of which only the peer can reach.
    int put(PeerQueuePair peer, ElementList from, ElementList to, long bytes) {
        return move(peer, from, to, bytes, true);
    }

    /// Copies from memory of the peer, some of which only the peer can reach, to memory of this side.
    int get(PeerQueuePair peer, ElementList from, ElementList to, long bytes) {
        return move(peer, from, to, bytes, false);
    }

    private int move(PeerQueuePair peer, ElementList from, ElementList to, long bytes, boolean put) {
        boolean moved = ElementList.forEachPiece(
                from,
                to,
                bytes,
                DATA_BYTES,
                (source, sourceIndex, sourceDone, sink, sinkIndex, sinkDone, piece) ->
                        movePiece(peer, source, sourceIndex, sourceDone, sink, sinkIndex, sinkDone, piece, put));
        return moved ? RequestExecutor.DONE : WorkStatus.REMOTE_ACCESS_ERROR.code();
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
        MemorySegment own = context.memory();
        if (put && sourceSegment != null) {
            if (!hasBlock()) {
                return false;
            }
            MemorySegment.copy(sourceSegment, sourceAt, own, block + DATA, piece);
            return ask(peer, PUT, to.keys[sink], to.addresses[sink] + sinkDone, piece, 0, 0);
        }
        if (sinkSegment == null
                || !ask(peer, GET, from.keys[source], from.addresses[source] + sourceDone, piece, 0, 0)) {
            return false;
        }
        ElementList.copyPiece(own, block + DATA, sinkSegment, sinkAt, piece);
        return true;
    }

    /// Has the peer carry out an atomic operation on memory that only it can reach.
    int atomic(PeerQueuePair peer, boolean compare, ElementList at, long operand, long swap, ElementList result) {
        int operation = compare ? COMPARE_AND_SWAP : FETCH_AND_ADD;
        if (!ask(peer, operation, at.keys[0], at.addresses[0], Long.BYTES, operand, swap)) {
            return WorkStatus.REMOTE_ACCESS_ERROR.code();
        }
        AtomicResult.store(result, context.memory().get(JAVA_LONG, block + OLD));
        return RequestExecutor.DONE;
    }

    private boolean ask(PeerQueuePair peer, int operation, int key, long offset, long length, long operand, long swap) {
        Peer to = peer.peer();
        if (to == null || !hasBlock()) {
            return false;
        }
        MemorySegment own = context.memory();
        own.set(JAVA_INT, block + OPERATION, operation);
        own.set(JAVA_INT, block + KEY, key);
        own.set(JAVA_LONG, block + OFFSET, offset);
        own.set(JAVA_LONG, block + LENGTH, length);
        own.set(JAVA_LONG, block + OPERAND, operand);
        own.set(JAVA_LONG, block + SWAP, swap);
        long asked = (++ticket << 2) | ASKED;
        SharedWords.publish(own, block + STATE, asked);
        if (to.tell(Message.STAGE, 0, context.lid(), block) && awaitAnswer(to, asked)) {
            return (SharedWords.acquire(own, block + STATE) & 3) == FINISHED;
        }
        block = 0;
        return false;
    }

    private boolean awaitAnswer(Peer from, long asked) {
        long deadline = System.nanoTime() + DEADLINE_NANOS;
        int spins = 0;
        while (SharedWords.acquire(context.memory(), block + STATE) == asked) {
            SoftQueuePair workingFor = current;
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

    /// A peer has finished what was asked of it.
    void finished() {
        LockSupport.unpark(thread);
    }

    /// Carries out what the stager of `peer` asks for, on memory of this process; the engine.
    void serve(@Nullable Peer peer, long itsBlock) {
        if (peer == null || !peer.isAlive()) {
            return;
        }
        MemorySegment theirs = peer.memory();
        if (itsBlock < 0 || itsBlock > theirs.byteSize() - DATA - DATA_BYTES) {
            return;
        }
        long asked = SharedWords.acquire(theirs, itsBlock + STATE);
        if ((asked & 3) != ASKED) {
            return;
        }
        long answer;
        try {
            answer = carryOut(theirs, itsBlock) ? FINISHED : REFUSED;
        } catch (IllegalStateException | IndexOutOfBoundsException e) {
            // The region was closed meanwhile.
            answer = REFUSED;
        }
        SharedWords.compareAndSet(theirs, itsBlock + STATE, asked, (asked & ~3L) | answer);
        peer.tell(Message.STAGED, 0, context.lid(), itsBlock);
    }

    private boolean carryOut(MemorySegment theirs, long itsBlock) {
        SoftMemoryRegion region = context.regions().find(theirs.get(JAVA_INT, itsBlock + KEY));
        long offset = theirs.get(JAVA_LONG, itsBlock + OFFSET);
        long length = theirs.get(JAVA_LONG, itsBlock + LENGTH);
        if (region == null || length < 0 || length > DATA_BYTES || offset < 0 || offset > region.length() - length) {
            return false;
        }
        MemorySegment memory = region.segment();
        switch (theirs.get(JAVA_INT, itsBlock + OPERATION)) {
            case PUT -> ElementList.copyPiece(theirs, itsBlock + DATA, memory, offset, length);
            case GET -> ElementList.copyPiece(memory, offset, theirs, itsBlock + DATA, length);
            case COMPARE_AND_SWAP, FETCH_AND_ADD -> {
                return carryOutAtomic(theirs, itsBlock, memory, offset);
            }
            default -> {
                return false;
            }
        }
        return true;
    }

    private static boolean carryOutAtomic(MemorySegment theirs, long itsBlock, MemorySegment memory, long offset) {
        if (!AtomicOperation.isAligned(memory, offset)) {
            return false;
        }
        boolean compare = theirs.get(JAVA_INT, itsBlock + OPERATION) == COMPARE_AND_SWAP;
        long operand = theirs.get(JAVA_LONG, itsBlock + OPERAND);
        long swap = theirs.get(JAVA_LONG, itsBlock + SWAP);
        theirs.set(JAVA_LONG, itsBlock + OLD, AtomicOperation.execute(memory, offset, compare, operand, swap));
        return true;
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
