package io.rdmacomm.soft.shm;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.soft.memory.AtomicOperation;
import io.rdmacomm.soft.memory.LocalElements;
import io.rdmacomm.soft.memory.RequestOpcode;
import io.rdmacomm.soft.memory.WindowRequests;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.AsyncEventType;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.spi.SendRequestLayout;
import java.lang.foreign.MemorySegment;

/// Executes the send requests of one queue pair on the thread that posts them: checks the access rights on both sides,
/// copies, and completes receives of the peer. Under the queue pair's send lock. Allocates nothing.
///
/// The order of checks and their statuses follow ibv_poll_cq(3) and the InfiniBand Architecture Specification,
/// 9.7 and 9.9: local protection first, then the peer's queue pair, then its keys.
final class RequestExecutor {
    private static final int LOCAL_LENGTH = WorkStatus.LOCAL_LENGTH_ERROR.code();
    private static final int LOCAL_ACCESS = WorkStatus.LOCAL_ACCESS_ERROR.code();
    private static final int REMOTE_INVALID = WorkStatus.REMOTE_INVALID_REQUEST.code();
    private static final int REMOTE_ACCESS = WorkStatus.REMOTE_ACCESS_ERROR.code();

    private static final int REMOTE_WRITE = AccessFlag.REMOTE_WRITE.bit();
    private static final int REMOTE_READ = AccessFlag.REMOTE_READ.bit();
    private static final int REMOTE_ATOMIC = AccessFlag.REMOTE_ATOMIC.bit();
    private static final int LOCAL_WRITE = AccessFlag.LOCAL_WRITE.bit();

    private final LocalElements localElements;
    private final WindowRequests windowRequests;
    private final PeerQueuePair peer;
    private final Transfer transfer;
    private final Delivery delivery;

    RequestExecutor(
            LocalElements localElements,
            WindowRequests windowRequests,
            PeerQueuePair peer,
            Transfer transfer,
            Delivery delivery) {
        this.localElements = localElements;
        this.windowRequests = windowRequests;
        this.peer = peer;
        this.transfer = transfer;
        this.delivery = delivery;
    }

    /// The number of bytes that the last request has moved.
    long bytes() {
        return transfer.local.total;
    }

    /// Executes the request at `at`.
    ///
    /// @param stages whether the caller stages the payload if it must be, and then calls [#finish]
    /// @return an [Outcome]
    int execute(MemorySegment request, long at, boolean stages) {
        int flags = request.get(JAVA_INT, at + SendRequestLayout.FLAGS);
        transfer.clear();
        return switch (request.get(JAVA_INT, at + SendRequestLayout.OPCODE)) {
            case RequestOpcode.WRITE -> write(request, at, flags);
            case RequestOpcode.WRITE_WITH_IMMEDIATE -> writeWithImmediate(request, at, flags);
            case RequestOpcode.SEND, RequestOpcode.SEND_WITH_IMMEDIATE, RequestOpcode.SEND_WITH_INVALIDATE ->
                send(request, at, flags, stages);
            case RequestOpcode.READ -> read(request, at, flags);
            case RequestOpcode.COMPARE_AND_SWAP -> atomic(true, request, at);
            case RequestOpcode.FETCH_AND_ADD -> atomic(false, request, at);
            default -> windowRequests.execute(request, at);
        };
    }

    /// Ends a request whose payload was staged, or could not be.
    ///
    /// @param result how that has ended
    /// @return an [Outcome]
    int finish(MemorySegment request, long at, int result) {
        return switch (request.get(JAVA_INT, at + SendRequestLayout.OPCODE)) {
            case RequestOpcode.SEND, RequestOpcode.SEND_WITH_IMMEDIATE, RequestOpcode.SEND_WITH_INVALIDATE ->
                delivery.of(request, at).finish(result);
            case RequestOpcode.WRITE_WITH_IMMEDIATE ->
                result == Outcome.DONE ? delivery.of(request, at).writeWithImmediate(Outcome.DONE) : result;
            default -> result;
        };
    }

    /// Finds the memory of this side, then checks that the peer is ready.
    private int begin(MemorySegment request, long at, int flags, int right) {
        int status = localElements.resolve(transfer.local, request, at, flags, right);
        if (status != Outcome.DONE) {
            return status;
        }
        return peer.isReady() ? Outcome.DONE : Outcome.NO_PEER;
    }

    private int write(MemorySegment request, long at, int flags) {
        int status = begin(request, at, flags, 0);
        if (status != Outcome.DONE) {
            return status;
        }
        status = resolveRemote(request, at, SendRequestLayout.REMOTE_KEY, transfer.local.total, REMOTE_WRITE);
        return status != Outcome.DONE ? status : transfer.write();
    }

    private int writeWithImmediate(MemorySegment request, long at, int flags) {
        int status = begin(request, at, flags, 0);
        if (status != Outcome.DONE) {
            return status;
        }
        if (peer.oldestReceive() < 0) {
            return Outcome.RECEIVER_NOT_READY;
        }
        status = resolveRemote(request, at, SendRequestLayout.REMOTE_KEY, transfer.local.total, REMOTE_WRITE);
        if (status != Outcome.DONE) {
            delivery.of(request, at).writeWithImmediate(LOCAL_ACCESS);
            return status;
        }
        status = transfer.write();
        return status != Outcome.DONE ? status : delivery.of(request, at).writeWithImmediate(Outcome.DONE);
    }

    private int send(MemorySegment request, long at, int flags, boolean stages) {
        int status = begin(request, at, flags, 0);
        return status != Outcome.DONE ? status : delivery.of(request, at).send(stages);
    }

    private int read(MemorySegment request, long at, int flags) {
        int status = begin(request, at, flags, LOCAL_WRITE);
        if (status != Outcome.DONE) {
            return status;
        }
        status = resolveRemote(request, at, SendRequestLayout.REMOTE_KEY, transfer.local.total, REMOTE_READ);
        return status != Outcome.DONE ? status : transfer.read();
    }

    private int atomic(boolean compare, MemorySegment request, long at) {
        int status = localElements.resolve(transfer.local, request, at, 0, LOCAL_WRITE);
        if (status != Outcome.DONE) {
            return status;
        }
        if (transfer.local.total < Long.BYTES) {
            return LOCAL_LENGTH;
        }
        if (!peer.isReady()) {
            return Outcome.NO_PEER;
        }
        status = resolveRemote(request, at, SendRequestLayout.ATOMIC_KEY, Long.BYTES, REMOTE_ATOMIC);
        if (status != Outcome.DONE) {
            return status;
        }
        boolean aligned = (request.get(JAVA_LONG, at + SendRequestLayout.REMOTE_ADDRESS) & 7) == 0;
        if (!aligned || !AtomicOperation.isAligned(transfer.remote)) {
            return peer.fault(REMOTE_INVALID, AsyncEventType.QUEUE_PAIR_REQUEST_ERROR);
        }
        long operand = request.get(JAVA_LONG, at + SendRequestLayout.COMPARE_ADD);
        long swap = request.get(JAVA_LONG, at + SendRequestLayout.SWAP);
        return transfer.atomic(compare, operand, swap);
    }

    /// Finds the memory behind a remote address and key, as the responder's checks demand.
    private int resolveRemote(MemorySegment request, long at, int keyAt, long length, int right) {
        if (length == 0) {
            return Outcome.DONE;
        }
        if ((peer.access() & right) == 0) {
            return peer.fault(REMOTE_INVALID, AsyncEventType.QUEUE_PAIR_REQUEST_ERROR);
        }
        long address = request.get(JAVA_LONG, at + SendRequestLayout.REMOTE_ADDRESS);
        int key = request.get(JAVA_INT, at + keyAt);
        if (!peer.resolve(key, address, length, right, peer.domain(), true, transfer.remote)) {
            return peer.fault(REMOTE_ACCESS, AsyncEventType.QUEUE_PAIR_ACCESS_ERROR);
        }
        return Outcome.DONE;
    }
}
