package io.rdmacomm.soft.shm;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.soft.mapped.QueuePairBlock;
import io.rdmacomm.soft.mapped.SharedWords;
import io.rdmacomm.soft.memory.AtomicOperation;
import io.rdmacomm.soft.memory.ElementList;
import io.rdmacomm.soft.memory.LocalMemory;
import io.rdmacomm.soft.memory.LocalRegion;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/// Executes the transfers that the [Stager] of a peer asks for, on memory that only this process can access. Runs on
/// the engine's thread.
///
/// The engine counts as a queue pair does (decision 3): its counter is odd from before it looks whether the queue pair
/// and the region are still there until it has let go of the memory.
final class StagingServer {
    private static final int SPINS = 1_000;
    private static final long PARK_NANOS = 20_000;

    private final int lid;
    private final LocalMemory memory;
    private final AtomicLong copies = new AtomicLong();
    private final AtomicLong executing = new AtomicLong();

    /// @param lid of this context
    StagingServer(int lid, LocalMemory memory) {
        this.lid = lid;
        this.memory = memory;
    }

    /// Carries out what the stager of `peer` asks for, on memory of this process; the engine.
    void serve(@Nullable Peer peer, long itsBlock) {
        if (peer == null || !peer.isAlive()) {
            return;
        }
        MemorySegment theirs = peer.memory();
        if (!StagingBlock.canBeAt(itsBlock, theirs.byteSize())) {
            return;
        }
        long asked = SharedWords.acquire(theirs, itsBlock + StagingBlock.STATE);
        long served = StagingBlock.withState(asked, StagingBlock.SERVED);
        if (StagingBlock.state(asked) != StagingBlock.ASKED
                || !SharedWords.compareAndSet(theirs, itsBlock + StagingBlock.STATE, asked, served)) {
            // The peer has given up.
            return;
        }
        copies.incrementAndGet();
        int answer = execute(theirs, itsBlock) ? StagingBlock.FINISHED : StagingBlock.REFUSED;
        SharedWords.release(theirs, itsBlock + StagingBlock.STATE, StagingBlock.withState(asked, answer));
        peer.tell(Message.STAGED, 0, lid, itsBlock);
    }

    private boolean execute(MemorySegment theirs, long itsBlock) {
        executing.incrementAndGet();
        try {
            return carryOut(theirs, itsBlock);
        } catch (RuntimeException | Error e) {
            // Somebody has freed the memory without closing the region, or has truncated the file under it.
            return false;
        } finally {
            executing.incrementAndGet();
        }
    }

    /// Waits until the engine is not in the middle of a transfer that it began before; any thread. The engine itself
    /// never waits here, and the wait ends, because a transfer waits for nobody.
    void awaitIdle() {
        long seen = executing.get();
        for (int spins = 0; (seen & 1) != 0 && executing.get() == seen; spins++) {
            if (spins < SPINS) {
                Thread.onSpinWait();
            } else {
                LockSupport.parkNanos(PARK_NANOS);
            }
        }
    }

    /// How many pieces this side was asked to copy.
    long copies() {
        return copies.get();
    }

    private boolean carryOut(MemorySegment theirs, long itsBlock) {
        if (!QueuePairBlock.accepts(memory.control(), theirs.get(JAVA_INT, itsBlock + StagingBlock.QUEUE_PAIR))) {
            return false;
        }
        LocalRegion region = memory.region(theirs.get(JAVA_INT, itsBlock + StagingBlock.KEY));
        long offset = theirs.get(JAVA_LONG, itsBlock + StagingBlock.OFFSET);
        long length = theirs.get(JAVA_LONG, itsBlock + StagingBlock.LENGTH);
        if (region == null
                || length < 0
                || length > StagingBlock.DATA_BYTES
                || offset < 0
                || offset > region.length() - length) {
            return false;
        }
        MemorySegment own = region.segment();
        switch (theirs.get(JAVA_INT, itsBlock + StagingBlock.OPERATION)) {
            case StagingBlock.PUT -> ElementList.copyPiece(theirs, itsBlock + StagingBlock.DATA, own, offset, length);
            case StagingBlock.GET -> ElementList.copyPiece(own, offset, theirs, itsBlock + StagingBlock.DATA, length);
            case StagingBlock.COMPARE_AND_SWAP, StagingBlock.FETCH_AND_ADD -> {
                return carryOutAtomic(theirs, itsBlock, own, offset);
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
        boolean compare = theirs.get(JAVA_INT, itsBlock + StagingBlock.OPERATION) == StagingBlock.COMPARE_AND_SWAP;
        long operand = theirs.get(JAVA_LONG, itsBlock + StagingBlock.OPERAND);
        long swap = theirs.get(JAVA_LONG, itsBlock + StagingBlock.SWAP);
        theirs.set(
                JAVA_LONG,
                itsBlock + StagingBlock.OLD,
                AtomicOperation.execute(memory, offset, compare, operand, swap));
        return true;
    }
}
