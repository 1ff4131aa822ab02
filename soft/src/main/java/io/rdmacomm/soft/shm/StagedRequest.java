package io.rdmacomm.soft.shm;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.soft.mapped.SharedWords;
import io.rdmacomm.soft.memory.AtomicResult;
import io.rdmacomm.soft.memory.ElementList;
import io.rdmacomm.soft.memory.RequestOpcode;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.spi.SendRequest;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// A request that needs memory which only the peer can access, because the application allocated it. It moves the
/// payload in pieces through a staging block: it asks the peer's engine to copy each piece, and continues after the
/// answer. Slow, but with the same semantics.
///
/// While the request waits for an answer, it uses no memory and prevents no thread from closing a region or a queue
/// pair. Queue pairs and regions are checked again before the next piece is copied. A request that is given up is
/// withdrawn: if the peer has begun to execute it, the block is lent to the peer until it has finished. Under the
/// send lock.
final class StagedRequest {
    private static final int REMOTE_ACCESS = WorkStatus.REMOTE_ACCESS_ERROR.code();
    private static final int RETRY_EXCEEDED = WorkStatus.RETRY_EXCEEDED.code();
    private static final long ABSENCE_NANOS = 200_000_000;

    private final Stager stager;
    private final int lid;
    private final PeerQueuePair peer;
    private final Transfer transfer;
    private @Nullable ShmPeer to;
    private Stager.@Nullable Lane lane;
    private int operation;
    private ElementList from;
    private ElementList into;
    private int source;
    private int sink;
    private long sourceDone;
    private long sinkDone;
    private long piece;
    private long left;
    private long block;
    private long asked;
    private boolean absent;
    private long absentSince;

    /// @param lid of this side's context
    StagedRequest(Stager stager, int lid, PeerQueuePair peer, Transfer transfer) {
        this.stager = stager;
        this.lid = lid;
        this.peer = peer;
        this.transfer = transfer;
        this.from = transfer.local;
        this.into = transfer.remote;
    }

    /// Whether it has begun, and not ended.
    boolean isBegun() {
        return to != null;
    }

    /// Whether the peer did not find its queue pair, and must be asked again.
    boolean isAbsent() {
        return absent;
    }

    /// Begins to stage a request, whose memory is in the transfer.
    ///
    /// @return as [#advance]
    int begin(Stager.Lane ofPeer, SendRequest request) {
        ShmPeer asks = peer.peer();
        if (asks == null) {
            return Outcome.NO_PEER;
        }
        try {
            block = stager.takeBlock();
        } catch (IOException e) {
            // Without room the transfer is refused, and its queue pair fails.
            return REMOTE_ACCESS;
        }
        to = asks;
        lane = ofPeer;
        absent = false;
        absentSince = 0;
        source = 0;
        sink = 0;
        sourceDone = 0;
        sinkDone = 0;
        operation = operation(request.opcode);
        from = operation == StagingBlock.READ ? transfer.remote : transfer.local;
        into = operation == StagingBlock.READ ? transfer.local : transfer.remote;
        if (isAtomic()) {
            MemorySegment own = stager.memory();
            own.set(JAVA_LONG, block + StagingBlock.OPERAND, request.operand);
            own.set(JAVA_LONG, block + StagingBlock.SWAP, request.swap);
            left = Long.BYTES;
            piece = Long.BYTES;
            return ask(transfer.remote.keys[0], transfer.remote.addresses[0]);
        }
        left = transfer.local.total;
        return movePieces();
    }

    private static int operation(int opcode) {
        return switch (opcode) {
            case RequestOpcode.WRITE, RequestOpcode.WRITE_WITH_IMMEDIATE -> StagingBlock.WRITE;
            case RequestOpcode.READ -> StagingBlock.READ;
            case RequestOpcode.COMPARE_AND_SWAP -> StagingBlock.COMPARE_AND_SWAP;
            case RequestOpcode.FETCH_AND_ADD -> StagingBlock.FETCH_AND_ADD;
            default -> StagingBlock.DELIVER;
        };
    }

    private boolean isAtomic() {
        return operation == StagingBlock.COMPARE_AND_SWAP || operation == StagingBlock.FETCH_AND_ADD;
    }

    /// Continues if the peer has answered.
    ///
    /// @return [Outcome#WAITS] if another answer is needed; else the [Outcome] of the request
    int advance() {
        int state = StagingBlock.state(SharedWords.acquire(stager.memory(), block + StagingBlock.STATE));
        if (StagingBlock.isUnanswered(state)) {
            return Outcome.WAITS;
        }
        if (lane != null) {
            lane.answered();
        }
        int result = transfer.recheck();
        if (result != Outcome.DONE) {
            // An atomic operation may have been executed, so it is not repeated.
            return isAtomic() && result == Outcome.NO_PEER ? RETRY_EXCEEDED : result;
        }
        return switch (state) {
            case StagingBlock.FINISHED -> pieceFinished();
            case StagingBlock.ABSENT -> askAbsent();
            default -> REMOTE_ACCESS;
        };
    }

    private int pieceFinished() {
        absentSince = 0;
        MemorySegment own = stager.memory();
        if (isAtomic()) {
            transfer.local.total = Long.BYTES;
            AtomicResult.store(transfer.local, own.get(JAVA_LONG, block + StagingBlock.OLD));
            return Outcome.DONE;
        }
        if (operation == StagingBlock.READ) {
            ElementList.copyPiece(
                    own, block + StagingBlock.DATA, into.segments[sink], into.offsets[sink] + sinkDone, piece);
            into.throwFault();
        }
        pieceMoved();
        return movePieces();
    }

    private void pieceMoved() {
        left -= piece;
        sourceDone += piece;
        sinkDone += piece;
        if (sourceDone == from.lengths[source]) {
            source++;
            sourceDone = 0;
        }
        if (sinkDone == into.lengths[sink]) {
            sink++;
            sinkDone = 0;
        }
    }

    /// Moves pieces that both sides can access, up to one that the peer must copy.
    private int movePieces() {
        MemorySegment own = stager.memory();
        while (left > 0) {
            long here = Math.min(from.lengths[source] - sourceDone, into.lengths[sink] - sinkDone);
            piece = Math.min(Math.min(left, StagingBlock.DATA_BYTES), here);
            MemorySegment sourceSegment = from.segments[source];
            MemorySegment sinkSegment = into.segments[sink];
            long sourceAt = from.offsets[source] + sourceDone;
            if (sourceSegment != null && sinkSegment != null) {
                ElementList.copyPiece(sourceSegment, sourceAt, sinkSegment, into.offsets[sink] + sinkDone, piece);
                from.throwFault();
                into.throwFault();
                pieceMoved();
            } else if (operation == StagingBlock.READ && sinkSegment != null) {
                return ask(from.keys[source], from.addresses[source] + sourceDone);
            } else if (operation != StagingBlock.READ && sourceSegment != null) {
                MemorySegment.copy(sourceSegment, sourceAt, own, block + StagingBlock.DATA, piece);
                from.throwFault();
                return ask(into.keys[sink], into.addresses[sink] + sinkDone);
            } else {
                return REMOTE_ACCESS;
            }
        }
        return Outcome.DONE;
    }

    private int ask(int key, long address) {
        MemorySegment own = stager.memory();
        own.set(JAVA_INT, block + StagingBlock.KEY, key);
        own.set(JAVA_LONG, block + StagingBlock.ADDRESS, address);
        return ask();
    }

    /// Asks the peer about the piece that is in the block.
    private int ask() {
        absent = false;
        ShmPeer asks = to;
        if (asks == null) {
            return Outcome.NO_PEER;
        }
        MemorySegment own = stager.memory();
        own.set(JAVA_INT, block + StagingBlock.OPERATION, operation);
        own.set(JAVA_INT, block + StagingBlock.TARGET, asks.lid());
        own.set(JAVA_INT, block + StagingBlock.QUEUE_PAIR, peer.number());
        own.set(JAVA_LONG, block + StagingBlock.LENGTH, piece);
        asked = StagingBlock.word(stager.nextTicket(), StagingBlock.ASKED);
        SharedWords.publish(own, block + StagingBlock.STATE, asked);
        asks.send(ShmMessage.STAGE, 0, lid, block);
        return Outcome.WAITS;
    }

    /// Asks again after a moment while the peer's queue pair is ready but does not know its own peer yet: a queue
    /// pair publishes its state a moment before it knows its peer.
    private int askAbsent() {
        if (absent) {
            return ask();
        }
        long now = System.nanoTime();
        if (absentSince == 0) {
            absentSince = now;
        }
        if (now - absentSince > ABSENCE_NANOS) {
            return isAtomic() ? RETRY_EXCEEDED : Outcome.NO_PEER;
        }
        absent = true;
        return Outcome.WAITS;
    }

    /// Ends the request, finished or not.
    void end() {
        ShmPeer asks = to;
        if (asks != null) {
            stager.withdraw(asks, block, asked);
            to = null;
            lane = null;
            block = 0;
        }
    }
}
