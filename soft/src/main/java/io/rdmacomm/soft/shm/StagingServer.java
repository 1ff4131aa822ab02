package io.rdmacomm.soft.shm;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.soft.mapped.SharedWords;
import io.rdmacomm.soft.memory.AtomicOperation;
import io.rdmacomm.soft.memory.ElementList;
import io.rdmacomm.soft.memory.LocalMemory;
import io.rdmacomm.soft.memory.LocalRegion;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// Executes the transfers that the [Stager] of a peer asks for, on memory that only this process can access. Runs on
/// the engine's thread.
final class StagingServer {
    private final int lid;
    private final LocalMemory memory;
    private final AtomicLong copies = new AtomicLong();

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
        if (itsBlock < 0 || itsBlock > theirs.byteSize() - StagingBlock.BYTES) {
            return;
        }
        long asked = SharedWords.acquire(theirs, itsBlock + StagingBlock.STATE);
        if ((asked & 3) != StagingBlock.ASKED) {
            return;
        }
        copies.incrementAndGet();
        long answer;
        try {
            answer = carryOut(theirs, itsBlock) ? StagingBlock.FINISHED : StagingBlock.REFUSED;
        } catch (IllegalStateException | IndexOutOfBoundsException e) {
            // The region was closed meanwhile.
            answer = StagingBlock.REFUSED;
        }
        SharedWords.compareAndSet(theirs, itsBlock + StagingBlock.STATE, asked, (asked & ~3L) | answer);
        peer.tell(Message.STAGED, 0, lid, itsBlock);
    }

    /// How many pieces this side was asked to copy.
    long copies() {
        return copies.get();
    }

    private boolean carryOut(MemorySegment theirs, long itsBlock) {
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
