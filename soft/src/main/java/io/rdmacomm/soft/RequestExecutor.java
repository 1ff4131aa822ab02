package io.rdmacomm.soft;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.soft.shm.CompletionFields;
import io.rdmacomm.soft.shm.CompletionRing;
import io.rdmacomm.soft.shm.Message;
import io.rdmacomm.soft.shm.ReceiveRing;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.AsyncEventType;
import io.rdmacomm.verbs.CompletionLayout;
import io.rdmacomm.verbs.CompletionOpcode;
import io.rdmacomm.verbs.ReceiveRequestLayout;
import io.rdmacomm.verbs.SendRequestLayout;
import io.rdmacomm.verbs.WorkStatus;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// Carries the send requests of one queue pair out, on the thread that posts them: checks both sides' rights,
/// copies, and completes on both sides. Used under the queue pair's lock; allocates nothing.
///
/// The order of checks and their statuses follow ibv_poll_cq(3) and the InfiniBand Architecture Specification,
/// 9.7 and 9.9: local protection first, then the peer's queue pair, then its keys.
final class RequestExecutor {
    /// The request was carried out.
    static final int DONE = 0;
    /// The peer is not there, or not ready to receive.
    static final int NO_PEER = -1;
    /// The peer has no receive posted.
    static final int RECEIVER_NOT_READY = -2;
    /// Memory that only the peer itself can reach is involved.
    static final int NEEDS_STAGING = -3;

    // The codes of SendOpcode, as constants of a switch.
    static final int WRITE = 0;
    static final int WRITE_WITH_IMMEDIATE = 1;
    static final int SEND = 2;
    static final int SEND_WITH_IMMEDIATE = 3;
    static final int READ = 4;
    static final int COMPARE_AND_SWAP = 5;
    static final int FETCH_AND_ADD = 6;
    static final int LOCAL_INVALIDATE = 7;
    static final int BIND_WINDOW = 8;
    static final int SEND_WITH_INVALIDATE = 9;

    private static final int LOCAL_LENGTH = WorkStatus.LOCAL_LENGTH_ERROR.code();
    private static final int LOCAL_PROTECTION = WorkStatus.LOCAL_PROTECTION_ERROR.code();
    private static final int LOCAL_ACCESS = WorkStatus.LOCAL_ACCESS_ERROR.code();
    private static final int REMOTE_INVALID = WorkStatus.REMOTE_INVALID_REQUEST.code();
    private static final int REMOTE_ACCESS = WorkStatus.REMOTE_ACCESS_ERROR.code();
    private static final int REMOTE_OPERATION = WorkStatus.REMOTE_OPERATION_ERROR.code();

    private static final int REMOTE_WRITE = AccessFlag.REMOTE_WRITE.bit();
    private static final int REMOTE_READ = AccessFlag.REMOTE_READ.bit();
    private static final int REMOTE_ATOMIC = AccessFlag.REMOTE_ATOMIC.bit();
    private static final int LOCAL_WRITE = AccessFlag.LOCAL_WRITE.bit();

    private static final int RECEIVE = CompletionOpcode.RECEIVE.code();
    private static final int RECEIVE_WRITE = CompletionOpcode.RECEIVE_WRITE_WITH_IMMEDIATE.code();

    private final SoftContext context;
    private final OwnBlock block;
    private final int number;
    private final LocalElements localElements;
    private final boolean signalAll;
    private final SoftCompletionQueue completions;
    private final WindowRequests windowRequests;
    private final ElementList local = new ElementList(SoftLimits.MAX_ELEMENTS);
    private final ElementList remote = new ElementList(SoftLimits.MAX_ELEMENTS);
    private final CompletionFields fields = new CompletionFields();
    // Failures are completed under other locks than requests are carried out.
    private final CompletionFields failedSend = new CompletionFields();
    private final CompletionFields failedReceive = new CompletionFields();
    private final ElementList inlineFrom = new ElementList(SoftLimits.MAX_ELEMENTS);
    private final ElementList inlineTo = new ElementList(1);
    private final PeerQueuePair peer;

    RequestExecutor(
            SoftContext context,
            OwnBlock block,
            int number,
            int domain,
            PeerQueuePair peer,
            SoftCompletionQueue completions,
            boolean signalAll) {
        this.context = context;
        this.block = block;
        this.number = number;
        this.localElements = new LocalElements(context.regions(), domain);
        this.peer = peer;
        this.completions = completions;
        this.signalAll = signalAll;
        this.windowRequests = new WindowRequests(context, number, domain);
    }

    /// Carries the request at `at` out and completes it if it succeeded and was signalled.
    ///
    /// @param mayStage whether this thread may wait for the peer to copy memory that only it can reach
    /// @return [#DONE], the code of a failed [WorkStatus], or a reason to try again later
    int execute(MemorySegment request, long at, boolean mayStage) {
        int opcode = request.get(JAVA_INT, at + SendRequestLayout.OPCODE);
        int flags = request.get(JAVA_INT, at + SendRequestLayout.FLAGS);
        local.clear();
        remote.clear();
        int result = switch (opcode) {
            case WRITE -> write(request, at, flags, mayStage);
            case WRITE_WITH_IMMEDIATE -> writeWithImmediate(request, at, flags, mayStage);
            case SEND, SEND_WITH_IMMEDIATE, SEND_WITH_INVALIDATE -> send(request, at, flags, mayStage);
            case READ -> read(request, at, flags, mayStage);
            case COMPARE_AND_SWAP, FETCH_AND_ADD -> atomic(opcode == COMPARE_AND_SWAP, request, at, mayStage);
            default -> carryOutLocally(request, at, opcode);
        };
        if (result == DONE && (signalAll || (flags & SendRequestLayout.FLAG_SIGNALED) != 0)) {
            complete(request, at, opcode);
        }
        return result;
    }

    private void complete(MemorySegment request, long at, int opcode) {
        fields.set(
                request.get(JAVA_LONG, at + SendRequestLayout.WORK_ID),
                DONE,
                completionOpcode(opcode),
                (int) local.total,
                number);
        completions.push(fields);
    }

    /// Completes a request that a link has carried out, if it was signalled.
    void completeSent(MemorySegment request, long at) {
        int flags = request.get(JAVA_INT, at + SendRequestLayout.FLAGS);
        if (!signalAll && (flags & SendRequestLayout.FLAG_SIGNALED) == 0) {
            return;
        }
        int opcode = request.get(JAVA_INT, at + SendRequestLayout.OPCODE);
        local.total = isAtomic(opcode) ? Long.BYTES : LocalElements.bytes(request, at);
        complete(request, at, opcode);
    }

    /// Completes a request that failed or was flushed; signalled or not (IBTA 10.7.3.1).
    void completeFailed(long workId, int status) {
        completeFailed(workId, status, 0);
    }

    /// Completes a request that failed.
    ///
    /// @param vendorError what the status does not say
    void completeFailed(long workId, int status, int vendorError) {
        failedSend.set(workId, status, 0, 0, number);
        failedSend.vendorError = vendorError;
        completions.push(failedSend);
    }

    /// Finds the memory behind the elements of a request.
    ///
    /// @param right the right that the memory must have, 0 for reading
    /// @return [#DONE], or the code of the [WorkStatus] to fail with
    int resolveLocal(ElementList into, MemorySegment request, long at, int flags, int right) {
        return localElements.resolve(into, request, at, flags, right);
    }

    /// The open region of this side with this key, or null.
    @Nullable
    SoftMemoryRegion localRegion(int key) {
        return context.regions().find(key);
    }

    /// Carries a request out that concerns this side only.
    ///
    /// @return [#DONE], or the code of the [WorkStatus] to fail with
    int carryOutLocally(MemorySegment request, long at, int opcode) {
        return switch (opcode) {
            case LOCAL_INVALIDATE -> windowRequests.invalidate(request, at);
            case BIND_WINDOW -> windowRequests.bind(request, at);
            default -> WorkStatus.LOCAL_QUEUE_PAIR_ERROR.code();
        };
    }

    /// Whether a request concerns this side only, or nobody.
    static boolean isLocal(int opcode) {
        return opcode == LOCAL_INVALIDATE || opcode == BIND_WINDOW || opcode < WRITE || opcode > SEND_WITH_INVALIDATE;
    }

    /// Whether it is an atomic operation.
    static boolean isAtomic(int opcode) {
        return opcode == COMPARE_AND_SWAP || opcode == FETCH_AND_ADD;
    }

    /// Whether it has immediate data.
    static boolean hasImmediate(int opcode) {
        return opcode == WRITE_WITH_IMMEDIATE || opcode == SEND_WITH_IMMEDIATE;
    }

    /// Completes a receive of this side that was flushed.
    void completeFlushed(SoftCompletionQueue queue, long workId) {
        failedReceive.set(workId, WorkStatus.FLUSHED.code(), 0, 0, number);
        queue.push(failedReceive);
    }

    /// Copies the payload of an inline request, whose memory may be reused when it was posted.
    ///
    /// @return how many bytes there are; an element that names no memory of this side is left out and cut off
    int copyInline(MemorySegment request, long at, MemorySegment into) {
        inlineFrom.clear();
        localElements.resolve(inlineFrom, request, at, SendRequestLayout.FLAG_INLINE, 0);
        int bytes = (int) Math.min(inlineFrom.total, into.byteSize());
        if (bytes > 0) {
            inlineTo.clear();
            inlineTo.add(into, 0, into.byteSize());
            ElementList.copy(inlineFrom, inlineTo, bytes);
        }
        return bytes;
    }

    private static int completionOpcode(int opcode) {
        return switch (opcode) {
            case WRITE, WRITE_WITH_IMMEDIATE -> CompletionOpcode.WRITE.code();
            case READ -> CompletionOpcode.READ.code();
            case COMPARE_AND_SWAP -> CompletionOpcode.COMPARE_AND_SWAP.code();
            case FETCH_AND_ADD -> CompletionOpcode.FETCH_AND_ADD.code();
            case LOCAL_INVALIDATE -> CompletionOpcode.LOCAL_INVALIDATE.code();
            case BIND_WINDOW -> CompletionOpcode.BIND_WINDOW.code();
            default -> CompletionOpcode.SEND.code();
        };
    }

    private int write(MemorySegment request, long at, int flags, boolean mayStage) {
        int status = localElements.resolve(local, request, at, flags, 0);
        if (status != DONE) {
            return status;
        }
        if (!peer.isReady()) {
            return NO_PEER;
        }
        status = resolveRemote(request, at, SendRequestLayout.REMOTE_KEY, local.total, REMOTE_WRITE);
        return status != DONE ? status : put(mayStage);
    }

    private int put(boolean mayStage) {
        if (!remote.partlyUnreachable) {
            ElementList.copy(local, remote, local.total);
            return DONE;
        }
        return mayStage ? context.stager().put(peer, local, remote, local.total) : NEEDS_STAGING;
    }

    private int writeWithImmediate(MemorySegment request, long at, int flags, boolean mayStage) {
        int status = localElements.resolve(local, request, at, flags, 0);
        if (status != DONE) {
            return status;
        }
        if (!peer.isReady()) {
            return NO_PEER;
        }
        if (peer.oldestReceive() < 0) {
            return RECEIVER_NOT_READY;
        }
        status = resolveRemote(request, at, SendRequestLayout.REMOTE_KEY, local.total, REMOTE_WRITE);
        if (status != DONE) {
            deliver(RECEIVE_WRITE, false, LOCAL_ACCESS, request, at, flags, mayStage);
            return status;
        }
        status = put(mayStage);
        return status != DONE ? status : deliver(RECEIVE_WRITE, false, DONE, request, at, flags, mayStage);
    }

    private int send(MemorySegment request, long at, int flags, boolean mayStage) {
        int status = localElements.resolve(local, request, at, flags, 0);
        if (status != DONE) {
            return status;
        }
        if (!peer.isReady()) {
            return NO_PEER;
        }
        return deliver(RECEIVE, true, DONE, request, at, flags, mayStage);
    }

    private int read(MemorySegment request, long at, int flags, boolean mayStage) {
        int status = localElements.resolve(local, request, at, flags, LOCAL_WRITE);
        if (status != DONE) {
            return status;
        }
        if (!peer.isReady()) {
            return NO_PEER;
        }
        status = resolveRemote(request, at, SendRequestLayout.REMOTE_KEY, local.total, REMOTE_READ);
        if (status != DONE) {
            return status;
        }
        if (!remote.partlyUnreachable) {
            ElementList.copy(remote, local, local.total);
            return DONE;
        }
        return mayStage ? context.stager().get(peer, remote, local, local.total) : NEEDS_STAGING;
    }

    private int atomic(boolean compare, MemorySegment request, long at, boolean mayStage) {
        int status = localElements.resolve(local, request, at, 0, LOCAL_WRITE);
        if (status != DONE) {
            return status;
        }
        if (local.total < Long.BYTES) {
            return LOCAL_LENGTH;
        }
        if (!peer.isReady()) {
            return NO_PEER;
        }
        status = resolveRemote(request, at, SendRequestLayout.ATOMIC_KEY, Long.BYTES, REMOTE_ATOMIC);
        if (status != DONE) {
            return status;
        }
        if ((request.get(JAVA_LONG, at + SendRequestLayout.REMOTE_ADDRESS) & 7) != 0) {
            return fault(REMOTE_INVALID, AsyncEventType.QUEUE_PAIR_REQUEST_ERROR);
        }
        long operand = request.get(JAVA_LONG, at + SendRequestLayout.COMPARE_ADD);
        long swap = request.get(JAVA_LONG, at + SendRequestLayout.SWAP);
        local.total = Long.BYTES;
        MemorySegment target = remote.segments[0];
        if (target == null) {
            return mayStage ? context.stager().atomic(peer, compare, remote, operand, swap, local) : NEEDS_STAGING;
        }
        if (!AtomicOperation.isAligned(target, remote.offsets[0])) {
            return fault(REMOTE_INVALID, AsyncEventType.QUEUE_PAIR_REQUEST_ERROR);
        }
        AtomicResult.store(local, AtomicOperation.execute(target, remote.offsets[0], compare, operand, swap));
        return DONE;
    }

    /// Takes the peer's next receive, puts the payload into it and completes it.
    ///
    /// @param payload whether the local elements go into the receive
    /// @param receiverStatus what is known to be wrong at the receiver already
    private int deliver(
            int opcode,
            boolean payload,
            int receiverStatus,
            MemorySegment request,
            long at,
            int flags,
            boolean mayStage) {
        MemorySegment memory = peer.memory();
        long ring = peer.receiveRing();
        while (true) {
            long position = peer.oldestReceive();
            if (position < 0) {
                return RECEIVER_NOT_READY;
            }
            long entry = ReceiveRing.entry(memory, ring, position);
            long workId = ReceiveRing.workId(memory, entry);
            int status = receiverStatus;
            if (payload && status == DONE) {
                status = resolveReceive(memory, ring, entry);
                if (status == DONE && remote.partlyUnreachable && !mayStage) {
                    return NEEDS_STAGING;
                }
            }
            if (take(memory, ring, position, workId)) {
                if (payload && status == DONE && put(true) != DONE) {
                    status = WorkStatus.FLUSHED.code();
                }
                if (status == DONE && !invalidated(request, at)) {
                    status = REMOTE_INVALID;
                }
                return completeReceive(opcode, workId, status, request, at, flags);
            }
        }
    }

    /// Invalidates the peer's key that a SEND with invalidation names, once it has its receive.
    ///
    /// @return false if it names no window
    private boolean invalidated(MemorySegment request, long at) {
        return request.get(JAVA_INT, at + SendRequestLayout.OPCODE) != SEND_WITH_INVALIDATE
                || windowRequests.invalidateRemote(peer, request.get(JAVA_INT, at + SendRequestLayout.IMMEDIATE));
    }

    /// Takes the receive, noted in the journal so that the peer can flush it should this process die before
    /// completing it.
    private boolean take(MemorySegment memory, long ring, long position, long workId) {
        int shared = ReceiveRing.sharedNumber(memory, ring);
        if (shared == 0) {
            block.openJournal(position, workId);
        }
        if (!ReceiveRing.take(memory, ring, position)) {
            block.closeJournal();
            return false;
        }
        if (shared != 0) {
            block.openJournal(position, workId);
            if (ReceiveRing.crossedLimit(memory, ring)) {
                peer.tell(Message.LIMIT, shared, 0);
            }
        }
        return true;
    }

    private int completeReceive(int opcode, long workId, int status, MemorySegment request, long at, int flags) {
        int sent = request.get(JAVA_INT, at + SendRequestLayout.OPCODE);
        fields.set(workId, status, opcode, (int) local.total, peer.number());
        fields.source = number;
        fields.solicited = (flags & SendRequestLayout.FLAG_SOLICITED) != 0;
        if (sent == WRITE_WITH_IMMEDIATE || sent == SEND_WITH_IMMEDIATE) {
            fields.flags = CompletionLayout.FLAG_IMMEDIATE;
            fields.immediate = request.get(JAVA_INT, at + SendRequestLayout.IMMEDIATE);
        } else if (sent == SEND_WITH_INVALIDATE) {
            fields.flags = CompletionLayout.FLAG_INVALIDATED;
            fields.immediate = request.get(JAVA_INT, at + SendRequestLayout.IMMEDIATE);
        }
        long queue = peer.receiveCompletions();
        int result = CompletionRing.push(
                peer.memory(), queue, context.lid(), block.memory(), block.completionJournal(), fields);
        block.closeJournal();
        if (result != CompletionRing.PUSHED) {
            peer.announce(queue, result);
            if (result == CompletionRing.OVERRUN) {
                return REMOTE_OPERATION;
            }
        }
        if (status == DONE) {
            return DONE;
        }
        return fault(status == LOCAL_LENGTH ? REMOTE_INVALID : REMOTE_OPERATION, AsyncEventType.UNKNOWN);
    }

    /// Finds the memory behind a remote address and key, as the responder's checks demand.
    private int resolveRemote(MemorySegment request, long at, int keyAt, long length, int right) {
        if (length == 0) {
            return DONE;
        }
        if ((peer.access() & right) == 0) {
            return fault(REMOTE_INVALID, AsyncEventType.QUEUE_PAIR_REQUEST_ERROR);
        }
        long address = request.get(JAVA_LONG, at + SendRequestLayout.REMOTE_ADDRESS);
        int key = request.get(JAVA_INT, at + keyAt);
        if (!peer.resolve(key, address, length, right, peer.domain(), true, remote)) {
            return fault(REMOTE_ACCESS, AsyncEventType.QUEUE_PAIR_ACCESS_ERROR);
        }
        return DONE;
    }

    /// Finds the memory behind the elements of the peer's receive.
    private int resolveReceive(MemorySegment memory, long ring, long entry) {
        remote.clear();
        int count = ReceiveRing.elementCount(memory, ring, entry);
        int receiveDomain = ReceiveRing.domain(memory, ring);
        long element = ReceiveRing.elements(entry);
        for (int i = 0; i < count; i++, element += ReceiveRequestLayout.ELEMENT_BYTES) {
            long length = Integer.toUnsignedLong(memory.get(JAVA_INT, element + ReceiveRequestLayout.ELEMENT_LENGTH));
            if (length == 0 || remote.total >= local.total) {
                continue;
            }
            long address = memory.get(JAVA_LONG, element + ReceiveRequestLayout.ELEMENT_ADDRESS);
            int key = memory.get(JAVA_INT, element + ReceiveRequestLayout.ELEMENT_KEY);
            if (!peer.resolve(key, address, length, LOCAL_WRITE, receiveDomain, false, remote)) {
                return LOCAL_PROTECTION;
            }
        }
        return remote.total < local.total ? LOCAL_LENGTH : DONE;
    }

    /// Tells the peer's queue pair to fail, too: the responder goes to the error state with its answer.
    private int fault(int status, AsyncEventType event) {
        peer.tell(Message.FAULT, peer.number(), event.code());
        return status;
    }
}
