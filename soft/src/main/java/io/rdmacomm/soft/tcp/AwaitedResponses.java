package io.rdmacomm.soft.tcp;

import io.rdmacomm.soft.execution.PayloadPlacement;
import io.rdmacomm.soft.iwarp.SegmentHeader;
import io.rdmacomm.soft.iwarp.Violation;
import io.rdmacomm.soft.memory.AtomicResult;
import io.rdmacomm.soft.memory.ElementList;
import io.rdmacomm.soft.memory.LocalMemory;
import io.rdmacomm.soft.memory.LocalRegion;
import io.rdmacomm.soft.transport.RequestQueue;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.WorkStatus;

/// Matches the peer's responses to outstanding READs and atomics, and places them into the memory that the requests
/// name. Under the queue pair's send lock.
final class AwaitedResponses {
    private static final int SUCCESS = 0;
    private static final int LOCAL_WRITE = AccessFlag.LOCAL_WRITE.bit();

    private final LocalMemory memory;
    private final RequestQueue queue;
    private final SentRequests sent;
    private final OutstandingReads reads;
    private final PayloadPlacement placement;
    private final ElementList result = new ElementList(ElementList.MAX_ELEMENTS);
    private long readPosition;

    /// @param reads the outstanding READs and atomics
    AwaitedResponses(LocalMemory memory, RequestQueue queue, SentRequests sent, OutstandingReads reads) {
        this.memory = memory;
        this.queue = queue;
        this.sent = sent;
        this.reads = reads;
        this.placement = new PayloadPlacement(memory, 1);
    }

    /// The target for the segment of a Read Response.
    PayloadPlacement placement() {
        return placement;
    }

    /// A segment of a Read Response begins.
    Violation beginRead(SegmentHeader segment) {
        if (reads.isEmpty() || reads.isAtomic()) {
            return Violation.NOT_NEGOTIATED;
        }
        if (segment.key != reads.key()
                || segment.address != reads.address()
                || segment.payloadBytes > reads.left()
                || (segment.last && segment.payloadBytes != reads.left())) {
            return Violation.TAGGED_CONTINUATION;
        }
        placement.clear();
        readPosition = reads.position();
        if (segment.payloadBytes > 0) {
            LocalRegion region = memory.region(reads.key());
            if (region != null) {
                placement.pieces().add(region, reads.address(), segment.payloadBytes);
            }
        }
        return Violation.NONE;
    }

    /// The segment is complete.
    void endRead(SegmentHeader segment) {
        reads.advance(segment.payloadBytes);
        if (segment.last) {
            answered();
        }
    }

    /// The memory that the segment was to be placed into is gone.
    void lostMemory() {
        sent.stop(readPosition, WorkStatus.LOCAL_PROTECTION_ERROR.code(), 0);
    }

    /// An Atomic Response is complete.
    Violation atomic(int identifier, long original) {
        if (reads.isEmpty() || !reads.isAtomic() || identifier != (int) reads.position()) {
            return Violation.NOT_NEGOTIATED;
        }
        result.clear();
        int status = queue.localElements().resolve(result, queue.segment(), queue.at(reads.position()), 0, LOCAL_WRITE);
        if (status == SUCCESS) {
            AtomicResult.store(result, original);
        } else {
            sent.stop(reads.position(), status, 0);
        }
        answered();
        return Violation.NONE;
    }

    private void answered() {
        sent.answered(reads.position());
        reads.remove();
    }
}
