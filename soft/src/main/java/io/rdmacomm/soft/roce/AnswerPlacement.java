package io.rdmacomm.soft.roce;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.rdmacomm.soft.execution.PayloadPlacement;
import io.rdmacomm.soft.memory.AtomicResult;
import io.rdmacomm.soft.memory.ElementList;
import io.rdmacomm.soft.memory.LocalMemory;
import io.rdmacomm.soft.roce.wire.Packet;
import io.rdmacomm.soft.transport.RequestQueue;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.spi.SendRequestLayout;
import java.lang.foreign.MemorySegment;

/// Writes the answers to READs and atomic operations into the memory of their requests. Under the queue pair's send
/// lock; allocates nothing.
final class AnswerPlacement {
    private static final int SUCCESS = 0;
    private static final long NOWHERE = Long.MAX_VALUE;
    private static final int LOCAL_WRITE = AccessFlag.LOCAL_WRITE.bit();

    private final RequestQueue queue;
    private final PayloadPlacement placement;
    private final int mtu;
    private long resolved = NOWHERE;

    AnswerPlacement(LocalMemory memory, RequestQueue queue, int mtu) {
        this.queue = queue;
        this.placement = new PayloadPlacement(memory, ElementList.MAX_ELEMENTS);
        this.mtu = mtu;
    }

    /// Places the part of the answer to a READ that begins at `offset`.
    ///
    /// @return the status that the request fails with, or 0
    int place(long position, long offset, Packet packet, MemorySegment from) {
        int status = resolve(position);
        if (status != SUCCESS) {
            return status;
        }
        if (packet.payloadBytes != Math.min(mtu, placement.pieces().total - offset)) {
            return WorkStatus.BAD_RESPONSE.code();
        }
        placement.seek(offset);
        return placement.copy(from, packet.payloadAt, packet.payloadBytes)
                ? SUCCESS
                : WorkStatus.LOCAL_PROTECTION_ERROR.code();
    }

    /// Stores the old value of an atomic operation.
    ///
    /// @return the status that the request fails with, or 0
    int store(long position, long original) {
        // The memory may have been deregistered since the request was sent.
        resolved = NOWHERE;
        int status = resolve(position);
        if (status == SUCCESS) {
            AtomicResult.store(placement.pieces(), original);
        }
        return status;
    }

    /// Finds the memory of a request, only once: each copy checks that it is still registered.
    private int resolve(long position) {
        if (resolved == position) {
            return SUCCESS;
        }
        placement.clear();
        long at = queue.at(position);
        int flags = queue.segment().get(JAVA_INT, at + SendRequestLayout.FLAGS);
        int status = queue.localElements().resolve(placement.pieces(), queue.segment(), at, flags, LOCAL_WRITE);
        resolved = status == SUCCESS ? position : NOWHERE;
        return status;
    }

    /// Releases all memory.
    void close() {
        resolved = NOWHERE;
        placement.release();
    }
}
