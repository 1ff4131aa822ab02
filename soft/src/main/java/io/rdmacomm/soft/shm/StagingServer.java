package io.rdmacomm.soft.shm;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.soft.mapped.QueuePairBlock;
import io.rdmacomm.soft.mapped.SharedWords;
import io.rdmacomm.soft.memory.AtomicOperation;
import io.rdmacomm.soft.memory.ElementList;
import io.rdmacomm.soft.memory.LocalKeys;
import io.rdmacomm.soft.memory.LocalMemory;
import io.rdmacomm.soft.memory.LocalRegion;
import io.rdmacomm.soft.transport.QueuePairResources;
import io.rdmacomm.verbs.AccessFlag;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/// Executes the [StagedRequest]s of peers, on memory that only this process can access. Runs on the engine's thread.
///
/// The peer has checked its rights in the key table. But any process of this user can send requests, and can write to
/// that table. So the rights are checked again here, against those that the region was registered with.
///
/// Like a queue pair, the engine has a counter (decision 38). The counter becomes odd before the engine checks that
/// the queue pair and the region still exist, and even when the engine no longer uses the memory.
final class StagingServer {
    private static final int SPINS = 1_000;
    private static final long PARK_NANOS = 20_000;

    private static final int LOCAL_WRITE = AccessFlag.LOCAL_WRITE.bit();
    private static final int REMOTE_WRITE = AccessFlag.REMOTE_WRITE.bit();
    private static final int REMOTE_READ = AccessFlag.REMOTE_READ.bit();
    private static final int REMOTE_ATOMIC = AccessFlag.REMOTE_ATOMIC.bit();

    /// Finds the queue pairs of this context that are connected to a peer.
    interface Connections {
        /// The queue pair with this number, null unless it is connected to that peer.
        @Nullable
        QueuePairResources find(int number, ShmPeer peer);
    }

    private final int lid;
    private final LocalMemory memory;
    private final Connections connections;
    private final ElementList target = new ElementList(1);
    private final AtomicLong copies = new AtomicLong();
    private final AtomicLong executing = new AtomicLong();

    /// @param lid of this context
    StagingServer(int lid, LocalMemory memory, Connections connections) {
        this.lid = lid;
        this.memory = memory;
        this.connections = connections;
    }

    /// Executes the request in a block of `peer`; on the engine's thread.
    void serve(@Nullable ShmPeer peer, long itsBlock) {
        if (peer == null || !peer.isConnected()) {
            return;
        }
        MemorySegment theirs = peer.memory();
        if (!StagingBlock.canBeAt(itsBlock, theirs.byteSize())) {
            return;
        }
        long asked = SharedWords.acquire(theirs, itsBlock + StagingBlock.STATE);
        long served = StagingBlock.withState(asked, StagingBlock.SERVED);
        if (StagingBlock.state(asked) != StagingBlock.ASKED
                || theirs.get(JAVA_INT, itsBlock + StagingBlock.TARGET) != lid
                || !SharedWords.compareAndSet(theirs, itsBlock + StagingBlock.STATE, asked, served)) {
            // The peer has given up, and may use the block for another peer now.
            return;
        }
        copies.incrementAndGet();
        int answer = execute(peer, itsBlock);
        SharedWords.release(theirs, itsBlock + StagingBlock.STATE, StagingBlock.withState(asked, answer));
        peer.send(ShmMessage.STAGED, 0, lid, itsBlock);
    }

    private int execute(ShmPeer peer, long itsBlock) {
        executing.incrementAndGet();
        try {
            QueuePairResources queuePair =
                    connections.find(peer.memory().get(JAVA_INT, itsBlock + StagingBlock.QUEUE_PAIR), peer);
            if (queuePair == null || !QueuePairBlock.accepts(memory.control(), queuePair.number())) {
                return StagingBlock.ABSENT;
            }
            boolean done = carryOut(queuePair, peer.memory(), itsBlock);
            // Before the answer: Java may not have told of a fault yet.
            SharedWords.throwFault();
            return done ? StagingBlock.FINISHED : StagingBlock.REFUSED;
        } catch (RuntimeException | Error e) {
            // The memory was freed without closing the region, or its file was truncated.
            return StagingBlock.REFUSED;
        } finally {
            executing.incrementAndGet();
        }
    }

    /// Waits for the transfer that the engine is executing, if any; any thread. The engine itself never waits here.
    /// The wait ends, because a transfer waits for nothing.
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

    private boolean carryOut(QueuePairResources queuePair, MemorySegment theirs, long itsBlock) {
        int operation = theirs.get(JAVA_INT, itsBlock + StagingBlock.OPERATION);
        int key = theirs.get(JAVA_INT, itsBlock + StagingBlock.KEY);
        long address = theirs.get(JAVA_LONG, itsBlock + StagingBlock.ADDRESS);
        long length = theirs.get(JAVA_LONG, itsBlock + StagingBlock.LENGTH);
        if (length < 0 || length > StagingBlock.DATA_BYTES) {
            return false;
        }
        long data = itsBlock + StagingBlock.DATA;
        return switch (operation) {
            case StagingBlock.DELIVER, StagingBlock.WRITE -> {
                boolean allowed = operation == StagingBlock.DELIVER
                        ? canDeliver(queuePair, key, address, length)
                        : canAccess(queuePair, key, address, length, REMOTE_WRITE);
                if (allowed) {
                    ElementList.copyPiece(theirs, data, target.segments[0], target.offsets[0], length);
                }
                yield allowed;
            }
            case StagingBlock.READ -> {
                boolean allowed = canAccess(queuePair, key, address, length, REMOTE_READ);
                if (allowed) {
                    ElementList.copyPiece(target.segments[0], target.offsets[0], theirs, data, length);
                }
                yield allowed;
            }
            case StagingBlock.COMPARE_AND_SWAP, StagingBlock.FETCH_AND_ADD ->
                canAccess(queuePair, key, address, Long.BYTES, REMOTE_ATOMIC)
                        && AtomicOperation.isAligned(target)
                        && carryOutAtomic(theirs, itsBlock, operation == StagingBlock.COMPARE_AND_SWAP);
            default -> false;
        };
    }

    /// Whether memory can belong to a receive of this queue pair. If so, sets the target to it. Only the peer knows
    /// which receive it has taken.
    private boolean canDeliver(QueuePairResources queuePair, int key, long address, long length) {
        int domain = queuePair.receives().ring().domain();
        LocalRegion region = memory.usable(key, domain, LOCAL_WRITE, address, length);
        if (region == null) {
            return false;
        }
        target.clear();
        target.add(region, region.offsetOf(address), length);
        return true;
    }

    /// Whether the peer has this right to memory through this queue pair. If so, sets the target to it.
    private boolean canAccess(QueuePairResources queuePair, int key, long address, long length, int right) {
        int domain = queuePair.domain();
        LocalKeys keys = new LocalKeys(memory, domain, queuePair.number());
        target.clear();
        if ((queuePair.block().access() & right) == 0 || keys.resolve(key, address, length, right, target) != null) {
            return false;
        }
        LocalRegion region = memory.region(target.keys[0]);
        // A window has its own rights.
        return region != null
                && region.domain() == domain
                && (region.key() == key ? region.allows(right) : region.windows() > 0);
    }

    private boolean carryOutAtomic(MemorySegment theirs, long itsBlock, boolean compare) {
        long operand = theirs.get(JAVA_LONG, itsBlock + StagingBlock.OPERAND);
        long swap = theirs.get(JAVA_LONG, itsBlock + StagingBlock.SWAP);
        theirs.set(JAVA_LONG, itsBlock + StagingBlock.OLD, AtomicOperation.execute(target, compare, operand, swap));
        return true;
    }
}
