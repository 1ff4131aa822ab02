package io.rdmacomm.soft.shm;

import io.rdmacomm.soft.memory.AtomicOperation;
import io.rdmacomm.soft.memory.ElementList;
import io.rdmacomm.soft.memory.LocalElements;
import io.rdmacomm.soft.memory.RequestOpcode;
import io.rdmacomm.soft.memory.WindowRequests;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.AsyncEventType;
import io.rdmacomm.verbs.PlainRequest;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.spi.SendRequest;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// Executes the send requests of one queue pair on the thread that posts them: checks the access rights on both sides,
/// copies, and completes receives of the peer. Under the queue pair's send lock. Allocates nothing.
///
/// The order of checks and their statuses follow ibv_poll_cq(3) and the InfiniBand Architecture Specification,
/// 9.7 and 9.9: local protection first, then the peer's queue pair, then its keys.
///
/// A request that moves one piece of mapped memory is executed without [ElementList]s. If a check fails on this fast
/// path, nothing has happened yet, and the general path finds the status.
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

    /// Executes a request.
    ///
    /// @param stages whether the caller stages the payload if necessary, and then calls [#finish]
    /// @return an [Outcome]
    int execute(SendRequest request, boolean stages) {
        return switch (request.opcode) {
            case RequestOpcode.WRITE -> write(request);
            case RequestOpcode.WRITE_WITH_IMMEDIATE -> writeWithImmediate(request);
            case RequestOpcode.SEND, RequestOpcode.SEND_WITH_IMMEDIATE, RequestOpcode.SEND_WITH_INVALIDATE ->
                send(request, stages);
            case RequestOpcode.READ -> read(request);
            case RequestOpcode.COMPARE_AND_SWAP -> atomic(true, request);
            case RequestOpcode.FETCH_AND_ADD -> atomic(false, request);
            default -> windowRequests.execute(request.inMemory(), request.at());
        };
    }

    /// Ends a request whose payload was staged, or could not be.
    ///
    /// @param result the [Outcome] of the staging
    /// @return an [Outcome]
    int finish(SendRequest request, int result) {
        return switch (request.opcode) {
            case RequestOpcode.SEND, RequestOpcode.SEND_WITH_IMMEDIATE, RequestOpcode.SEND_WITH_INVALIDATE ->
                delivery.of(request).finish(result);
            case RequestOpcode.WRITE_WITH_IMMEDIATE -> result == Outcome.DONE ? endWriteWithImmediate(request) : result;
            default -> result;
        };
    }

    /// The peer may have gone while its payload was staged.
    private int endWriteWithImmediate(SendRequest request) {
        return peer.isReady() ? delivery.of(request).writeWithImmediate(Outcome.DONE) : Outcome.NO_PEER;
    }

    private int write(SendRequest request) {
        return writePiece(request) ? Outcome.DONE : writeElements(request);
    }

    private int writeElements(SendRequest request) {
        int status = begin(request, 0);
        if (status == Outcome.DONE) {
            status = resolveRemote(request, request.length, REMOTE_WRITE);
        }
        return status != Outcome.DONE ? status : transfer.write();
    }

    private int writeWithImmediate(SendRequest request) {
        boolean written =
                peer.isReady() && peer.receives().oldest() >= 0 && (request.length == 0 || writePiece(request));
        int status = written ? Outcome.DONE : writeElementsForReceive(request);
        return status != Outcome.DONE ? status : delivery.of(request).writeWithImmediate(Outcome.DONE);
    }

    private int writeElementsForReceive(SendRequest request) {
        int status = begin(request, 0);
        if (status != Outcome.DONE) {
            return status;
        }
        if (peer.receives().oldest() < 0) {
            return Outcome.RECEIVER_NOT_READY;
        }
        status = resolveRemote(request, request.length, REMOTE_WRITE);
        if (status != Outcome.DONE) {
            delivery.of(request).writeWithImmediate(LOCAL_ACCESS);
            return status;
        }
        return transfer.write();
    }

    private int send(SendRequest request, boolean stages) {
        if (sendPiece(request)) {
            return delivery.outcome();
        }
        int status = begin(request, 0);
        return status != Outcome.DONE ? status : delivery.of(request).send(stages);
    }

    private int read(SendRequest request) {
        if (readPiece(request)) {
            return Outcome.DONE;
        }
        int status = begin(request, LOCAL_WRITE);
        if (status == Outcome.DONE) {
            status = resolveRemote(request, request.length, REMOTE_READ);
        }
        return status != Outcome.DONE ? status : transfer.read();
    }

    private int atomic(boolean compare, SendRequest request) {
        transfer.clear();
        int status = localElements.resolve(transfer.local, request, LOCAL_WRITE);
        if (status != Outcome.DONE) {
            return status;
        }
        if (transfer.local.total < Long.BYTES) {
            return LOCAL_LENGTH;
        }
        if (!peer.isReady()) {
            return Outcome.NO_PEER;
        }
        status = resolveRemote(request, Long.BYTES, REMOTE_ATOMIC);
        if (status != Outcome.DONE) {
            return status;
        }
        boolean aligned = (request.remoteAddress & 7) == 0;
        if (!aligned || !AtomicOperation.isAligned(transfer.remote)) {
            return peer.fault(REMOTE_INVALID, AsyncEventType.QUEUE_PAIR_REQUEST_ERROR);
        }
        return transfer.atomic(compare, request.operand, request.swap);
    }

    /// Finds the memory of this side, then checks that the peer is ready.
    private int begin(SendRequest request, int right) {
        transfer.clear();
        int status = localElements.resolve(transfer.local, request, right);
        if (status != Outcome.DONE) {
            return status;
        }
        return peer.isReady() ? Outcome.DONE : Outcome.NO_PEER;
    }

    /// Finds the memory at a remote address, with the checks of a responder.
    private int resolveRemote(SendRequest request, long length, int right) {
        if (length == 0) {
            return Outcome.DONE;
        }
        if ((peer.access() & right) == 0) {
            return peer.fault(REMOTE_INVALID, AsyncEventType.QUEUE_PAIR_REQUEST_ERROR);
        }
        int key = request.remoteKey;
        if (!peer.resolve(key, request.remoteAddress, length, right, peer.domain(), true, transfer.remote)) {
            return peer.fault(REMOTE_ACCESS, AsyncEventType.QUEUE_PAIR_ACCESS_ERROR);
        }
        return Outcome.DONE;
    }

    // ---- One piece of memory on both sides ----

    /// Executes a request that can do everything or nothing.
    ///
    /// @return [Outcome#NOT_DIRECT] if nothing has happened
    int executeAtOnce(PlainRequest request) {
        return switch (request.opcode) {
            case RequestOpcode.WRITE -> writePiece(request) ? Outcome.DONE : Outcome.NOT_DIRECT;
            case RequestOpcode.READ -> readPiece(request) ? Outcome.DONE : Outcome.NOT_DIRECT;
            case RequestOpcode.SEND, RequestOpcode.SEND_WITH_IMMEDIATE -> {
                MemorySegment local = findLocal(request, 0);
                boolean can = (local != null || request.length == 0)
                        && peer.isReady()
                        && delivery.of(request).canSendInLine();
                yield can ? delivery.sendInLine(local, localElements.foundOffset()) : Outcome.NOT_DIRECT;
            }
            case RequestOpcode.WRITE_WITH_IMMEDIATE -> {
                boolean can = peer.isReady()
                        && delivery.of(request).canCompleteInLine(0)
                        && (request.length == 0 || writePiece(request));
                yield can ? delivery.writeWithImmediate(Outcome.DONE) : Outcome.NOT_DIRECT;
            }
            default -> Outcome.NOT_DIRECT;
        };
    }

    private boolean writePiece(PlainRequest request) {
        MemorySegment local = findLocal(request, 0);
        MemorySegment remote = local == null ? null : findRemote(request, REMOTE_WRITE);
        if (local == null || remote == null) {
            return false;
        }
        ElementList.copyPiece(local, localElements.foundOffset(), remote, peer.foundOffset(), request.length);
        peer.throwFault();
        return true;
    }

    private boolean readPiece(PlainRequest request) {
        MemorySegment local = findLocal(request, LOCAL_WRITE);
        MemorySegment remote = local == null ? null : findRemote(request, REMOTE_READ);
        if (local == null || remote == null) {
            return false;
        }
        ElementList.copyPiece(remote, peer.foundOffset(), local, localElements.foundOffset(), request.length);
        peer.throwFault();
        return true;
    }

    private boolean sendPiece(SendRequest request) {
        MemorySegment local = findLocal(request, 0);
        return (local != null || request.length == 0)
                && peer.isReady()
                && delivery.of(request).sendPiece(local, localElements.foundOffset());
    }

    private @Nullable MemorySegment findLocal(PlainRequest request, int right) {
        return request.elements == 1 && request.length > 0 ? localElements.find(request, right) : null;
    }

    private @Nullable MemorySegment findRemote(PlainRequest request, int right) {
        return peer.isReady() && (peer.access() & right) != 0
                ? peer.find(request.remoteKey, request.remoteAddress, request.length, right, peer.domain(), true)
                : null;
    }
}
