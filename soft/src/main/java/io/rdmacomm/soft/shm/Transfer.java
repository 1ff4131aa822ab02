package io.rdmacomm.soft.shm;

import io.rdmacomm.soft.memory.AtomicOperation;
import io.rdmacomm.soft.memory.AtomicResult;
import io.rdmacomm.soft.memory.ElementList;
import io.rdmacomm.soft.memory.LocalMemory;
import io.rdmacomm.soft.memory.LocalRegion;
import io.rdmacomm.verbs.WorkStatus;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// The memory of a request on both sides, and the copies between them.
final class Transfer {
    final ElementList local = new ElementList(ElementList.MAX_ELEMENTS);
    final ElementList remote = new ElementList(ElementList.MAX_ELEMENTS);
    private final LocalMemory memory;
    private final PeerQueuePair peer;

    /// @param memory of this side
    Transfer(LocalMemory memory, PeerQueuePair peer) {
        this.memory = memory;
        this.peer = peer;
    }

    /// Checks that the peer and all memory still exist: they may have been closed since the last check.
    ///
    /// @return an [Outcome]
    int recheck() {
        if (!peer.isReady()) {
            return Outcome.NO_PEER;
        }
        for (int i = 0; i < local.count; i++) {
            if (!isOpen(local.keys[i], local.segments[i])) {
                return WorkStatus.LOCAL_PROTECTION_ERROR.code();
            }
        }
        for (int i = 0; i < remote.count; i++) {
            if (remote.segments[i] != null && !peer.isValid(remote.keys[i])) {
                return WorkStatus.REMOTE_ACCESS_ERROR.code();
            }
        }
        return Outcome.DONE;
    }

    /// Whether the memory is that of an open region; inline data, which has no key, always is.
    private boolean isOpen(int key, @Nullable MemorySegment segment) {
        LocalRegion region = memory.region(key);
        return region == null ? key == 0 : region.segment().equals(segment);
    }

    void clear() {
        local.clear();
        remote.clear();
    }

    /// Copies all of the local memory to the peer's.
    ///
    /// @return [Outcome#DONE], or [Outcome#NEEDS_STAGING] if nothing was copied
    int write() {
        if (remote.partlyUnreachable) {
            return Outcome.NEEDS_STAGING;
        }
        ElementList.copy(local, remote, local.total);
        return Outcome.DONE;
    }

    /// Fills all of the local memory from the peer's.
    ///
    /// @return as [#write()]
    int read() {
        if (remote.partlyUnreachable) {
            return Outcome.NEEDS_STAGING;
        }
        ElementList.copy(remote, local, local.total);
        return Outcome.DONE;
    }

    /// Executes an atomic operation on 8 bytes of the peer, and puts the old value into the local memory.
    ///
    /// @return as [#write()]
    int atomic(boolean compare, long operand, long swap) {
        local.total = Long.BYTES;
        if (remote.partlyUnreachable) {
            return Outcome.NEEDS_STAGING;
        }
        AtomicResult.store(local, AtomicOperation.execute(remote, compare, operand, swap));
        return Outcome.DONE;
    }
}
