package io.rdmacomm.soft.shm;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.soft.mapped.CompletionFields;
import io.rdmacomm.soft.mapped.CompletionProducer;
import io.rdmacomm.soft.mapped.CompletionRing;
import io.rdmacomm.soft.mapped.QueuePairBlock;
import io.rdmacomm.soft.mapped.ReceiveTaker;
import io.rdmacomm.soft.memory.ElementList;
import io.rdmacomm.soft.memory.RequestOpcode;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.AsyncEventType;
import io.rdmacomm.verbs.CompletionOpcode;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.spi.CompletionLayout;
import io.rdmacomm.verbs.spi.ReceiveRequestLayout;
import io.rdmacomm.verbs.spi.SendRequest;
import io.rdmacomm.verbs.spi.SendRequestLayout;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// Delivers a message: takes the peer's oldest receive, puts the payload into its memory and completes it. Under the
/// queue pair's send lock; allocates nothing.
final class Delivery {
    private static final int FLUSHED = WorkStatus.FLUSHED.code();
    private static final int GENERAL = WorkStatus.GENERAL_ERROR.code();
    private static final int LOCAL_LENGTH = WorkStatus.LOCAL_LENGTH_ERROR.code();
    private static final int LOCAL_PROTECTION = WorkStatus.LOCAL_PROTECTION_ERROR.code();
    private static final int REMOTE_INVALID = WorkStatus.REMOTE_INVALID_REQUEST.code();
    private static final int REMOTE_OPERATION = WorkStatus.REMOTE_OPERATION_ERROR.code();
    private static final int LOCAL_WRITE = AccessFlag.LOCAL_WRITE.bit();
    /// A taker loses fewer receives than this to others, unless a faulty process keeps changing the head.
    private static final int MOST_TURNS = 1 << 16;
    private static final int RECEIVE = CompletionOpcode.RECEIVE.code();
    private static final int RECEIVE_WRITE = CompletionOpcode.RECEIVE_WRITE_WITH_IMMEDIATE.code();

    private final int number;
    private final QueuePairBlock block;
    private final PeerQueuePair peer;
    private final Transfer transfer;
    private final CompletionFields fields = new CompletionFields();
    // The message.
    private int sent;
    private int flags;
    private int immediate;
    private long bytes;
    private long taken;
    private int outcome;

    /// @param number of this side's queue pair
    /// @param block has the journal of what this side is doing to the peer
    Delivery(int number, QueuePairBlock block, PeerQueuePair peer, Transfer transfer) {
        this.number = number;
        this.block = block;
        this.peer = peer;
        this.transfer = transfer;
    }

    /// Sets the message that is delivered next.
    Delivery of(SendRequest request) {
        sent = request.opcode;
        flags = request.flags;
        immediate = request.immediate;
        bytes = request.length;
        return this;
    }

    /// Delivers a SEND, whose payload is the local memory of the [Transfer] and goes into the receive.
    ///
    /// @param stages whether to take the receive also if the payload must be staged; then [#finish] follows
    int send(boolean stages) {
        MemorySegment memory = peer.memory();
        ReceiveTaker ring = peer.receives();
        for (int turn = 0; turn < MOST_TURNS; turn++) {
            long position = peer.oldestReceive();
            if (position < 0) {
                return Outcome.RECEIVER_NOT_READY;
            }
            long entry = ring.entry(position);
            long workId = ring.workId(entry);
            int status = resolveReceive(memory, ring, entry);
            if (status == Outcome.DONE && transfer.remote.partlyUnreachable && !stages) {
                return Outcome.NEEDS_STAGING;
            }
            if (take(ring, position, workId)) {
                taken = workId;
                if (status != Outcome.DONE) {
                    return complete(RECEIVE, workId, status);
                }
                int result = put();
                return switch (result) {
                    case Outcome.NEEDS_STAGING -> result;
                    case Outcome.DONE -> endWithPayload();
                    default -> endWithoutPayload(result);
                };
            }
        }
        return Outcome.RECEIVER_NOT_READY;
    }

    /// Copies the payload. A receive that was taken must complete, whatever happens.
    private int put() {
        try {
            return transfer.write();
        } catch (RuntimeException | Error e) {
            // Memory was freed without closing its region, or its file was truncated.
            return GENERAL;
        }
    }

    /// Delivers a SEND without an [ElementList] on either side: into a receive of one element that only this
    /// side takes. Then [#outcome()] tells how it has ended.
    ///
    /// @param local the memory of the payload; null if there is none
    /// @param from where the payload begins in it
    /// @return false if nothing has happened, and [#send(boolean)] must deliver it
    boolean sendPiece(@Nullable MemorySegment local, long from) {
        ReceiveTaker ring = peer.receives();
        long position = ring.sharedNumber() == 0 ? peer.oldestReceive() : -1;
        if (position < 0) {
            return false;
        }
        NextReceive receive = peer.nextReceive(position);
        MemorySegment remote = local == null ? null : findReceive(ring, receive);
        if ((local != null && remote == null) || !take(ring, position, receive.workId())) {
            return false;
        }
        taken = receive.workId();
        int result = local == null || remote == null ? Outcome.DONE : put(local, from, remote);
        outcome = result == Outcome.DONE ? endWithPayload() : endWithoutPayload(result);
        peer.readAhead(position);
        return true;
    }

    /// The [Outcome] of the last [#sendPiece].
    int outcome() {
        return outcome;
    }

    private int put(MemorySegment local, long from, MemorySegment remote) {
        try {
            ElementList.copyPiece(local, from, remote, peer.foundOffset(), bytes);
            return Outcome.DONE;
        } catch (RuntimeException | Error e) {
            // As in put().
            return GENERAL;
        }
    }

    /// The memory of a receive of one element; null if it is not mapped, or does not suit the message.
    private @Nullable MemorySegment findReceive(ReceiveTaker ring, NextReceive receive) {
        return receive.elements() == 1 && receive.length() >= bytes
                ? peer.find(receive.key(), receive.address(), receive.length(), LOCAL_WRITE, ring.domain(), false)
                : null;
    }

    /// Ends the receive that [#send(boolean)] has taken for a payload that had to be staged. The peer may
    /// have failed after the last piece was copied, and taken its receive back.
    ///
    /// @param result whether the payload was copied, or why not
    int finish(int result) {
        if (result != Outcome.DONE) {
            return endWithoutPayload(result);
        }
        return block.claimJournal() ? endWithPayload() : Outcome.NO_PEER;
    }

    private int endWithPayload() {
        return complete(RECEIVE, taken, invalidated() ? Outcome.DONE : REMOTE_INVALID);
    }

    /// Ends a receive that was taken for a payload which could not be copied. If the peer has failed, or was reset or
    /// closed meanwhile, its receive has ended already.
    ///
    /// @param result why not
    private int endWithoutPayload(int result) {
        if (!peer.hasReceives()) {
            block.closeJournal();
            return Outcome.NO_PEER;
        }
        boolean mine = result == LOCAL_PROTECTION || result == GENERAL;
        if (!block.claimJournal()) {
            return mine ? result : Outcome.NO_PEER;
        }
        int status = complete(RECEIVE, taken, FLUSHED);
        return mine ? result : status;
    }

    /// Delivers the immediate data of a WRITE, whose payload was written before.
    ///
    /// @param status what the receive completes with
    int writeWithImmediate(int status) {
        ReceiveTaker ring = peer.receives();
        for (int turn = 0; turn < MOST_TURNS; turn++) {
            long position = peer.oldestReceive();
            if (position < 0) {
                return Outcome.RECEIVER_NOT_READY;
            }
            long workId = ring.workId(ring.entry(position));
            if (take(ring, position, workId)) {
                return complete(RECEIVE_WRITE, workId, status);
            }
        }
        return Outcome.RECEIVER_NOT_READY;
    }

    /// Finds the memory of the elements of the peer's receive.
    private int resolveReceive(MemorySegment memory, ReceiveTaker ring, long entry) {
        ElementList remote = transfer.remote;
        remote.clear();
        int count = ring.elementCount(entry);
        int receiveDomain = ring.domain();
        long element = ring.elements(entry);
        for (int i = 0; i < count; i++, element += ReceiveRequestLayout.ELEMENT_BYTES) {
            long length = Integer.toUnsignedLong(memory.get(JAVA_INT, element + ReceiveRequestLayout.ELEMENT_LENGTH));
            if (length == 0 || remote.total >= bytes) {
                continue;
            }
            long address = memory.get(JAVA_LONG, element + ReceiveRequestLayout.ELEMENT_ADDRESS);
            int key = memory.get(JAVA_INT, element + ReceiveRequestLayout.ELEMENT_KEY);
            if (!peer.resolve(key, address, length, LOCAL_WRITE, receiveDomain, false, remote)) {
                return LOCAL_PROTECTION;
            }
        }
        return remote.total < bytes ? LOCAL_LENGTH : Outcome.DONE;
    }

    /// Takes the receive. The journal names it, so that the peer can flush it if this process dies before completing
    /// it.
    private boolean take(ReceiveTaker ring, long position, long workId) {
        block.openJournal(position, workId);
        if (!ring.take(position)) {
            block.closeJournal();
            return false;
        }
        int shared = ring.sharedNumber();
        if (shared != 0 && ring.crossedLimit()) {
            peer.send(ShmMessage.LIMIT, shared, 0);
        }
        return true;
    }

    /// Invalidates the peer's key that a SEND with invalidation names, once it has its receive.
    ///
    /// @return false if it names no window
    private boolean invalidated() {
        return sent != RequestOpcode.SEND_WITH_INVALIDATE || peer.invalidate(immediate);
    }

    private int complete(int opcode, long workId, int status) {
        fields.set(workId, status, opcode, (int) bytes, peer.number());
        fields.source = number;
        fields.solicited = (flags & SendRequestLayout.FLAG_SOLICITED) != 0;
        if (RequestOpcode.hasImmediate(sent)) {
            fields.flags = CompletionLayout.FLAG_IMMEDIATE;
            fields.immediate = immediate;
        } else if (sent == RequestOpcode.SEND_WITH_INVALIDATE) {
            fields.flags = CompletionLayout.FLAG_INVALIDATED;
            fields.immediate = immediate;
        }
        CompletionProducer queue = peer.completions();
        long result = queue.push(block.memory(), block.completionJournal(), fields);
        block.closeJournal();
        if (result != CompletionRing.PUSHED) {
            peer.announce(queue.queue(), result);
            if (result == CompletionRing.OVERRUN) {
                return REMOTE_OPERATION;
            }
        }
        if (status == Outcome.DONE) {
            return Outcome.DONE;
        }
        return peer.fault(status == LOCAL_LENGTH ? REMOTE_INVALID : REMOTE_OPERATION, AsyncEventType.UNKNOWN);
    }
}
