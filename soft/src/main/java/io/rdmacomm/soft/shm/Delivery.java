package io.rdmacomm.soft.shm;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.soft.mapped.CompletionFields;
import io.rdmacomm.soft.mapped.CompletionRing;
import io.rdmacomm.soft.mapped.ReceiveTaker;
import io.rdmacomm.soft.memory.ElementList;
import io.rdmacomm.soft.memory.RequestOpcode;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.AsyncEventType;
import io.rdmacomm.verbs.CompletionOpcode;
import io.rdmacomm.verbs.PlainRequest;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.spi.CompletionLayout;
import io.rdmacomm.verbs.spi.ReceiveRequestLayout;
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
    private static final int RETRY_EXCEEDED = WorkStatus.RETRY_EXCEEDED.code();
    private static final int LOCAL_WRITE = AccessFlag.LOCAL_WRITE.bit();
    /// A taker loses fewer receives than this to others, unless a faulty process keeps changing the head.
    private static final int MOST_TURNS = 1 << 16;
    private static final int RECEIVE = CompletionOpcode.RECEIVE.code();
    private static final int RECEIVE_WRITE = CompletionOpcode.RECEIVE_WRITE_WITH_IMMEDIATE.code();

    private final int number;
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
    Delivery(int number, PeerQueuePair peer, Transfer transfer) {
        this.number = number;
        this.peer = peer;
        this.transfer = transfer;
    }

    /// Sets the message that is delivered next.
    Delivery of(PlainRequest request) {
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
        ReceiveTaker ring = peer.entries();
        PeerReceives receives = peer.receives();
        for (int turn = 0; turn < MOST_TURNS; turn++) {
            if (turn > 0 && !peer.isReady()) {
                return Outcome.NO_PEER;
            }
            long position = receives.oldest();
            if (position < 0) {
                return Outcome.RECEIVER_NOT_READY;
            }
            long entry = ring.entry(position);
            long workId = ring.workId(entry);
            int status = resolveReceive(memory, ring, entry);
            if (status == Outcome.DONE && transfer.remote.partlyUnreachable && !stages) {
                return Outcome.NEEDS_STAGING;
            }
            if (receives.take(position, workId)) {
                taken = workId;
                if (status != Outcome.DONE) {
                    return complete(RECEIVE, workId, status, false);
                }
                int result = put();
                return switch (result) {
                    case Outcome.NEEDS_STAGING -> result;
                    case Outcome.DONE -> endWithPayload(false);
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
        if (canSendInLine()) {
            outcome = sendInLine(local, from);
            return true;
        }
        ReceiveTaker ring = peer.entries();
        PeerReceives receives = peer.receives();
        long position = ring.sharedNumber() == 0 ? receives.oldest() : -1;
        if (position < 0) {
            return false;
        }
        NextReceive receive = peer.nextReceive(position);
        MemorySegment remote = local == null ? null : findReceive(ring, receive);
        if ((local != null && remote == null) || !receives.take(position, receive.workId())) {
            return false;
        }
        taken = receive.workId();
        int result = local == null || remote == null ? Outcome.DONE : put(local, from, remote);
        outcome = result == Outcome.DONE ? endWithPayload(false) : endWithoutPayload(result);
        if (outcome == Outcome.DONE) {
            peer.readAhead(position);
        }
        return true;
    }

    /// Whether a SEND leaves it to the peer to move the payload to the memory of its receive.
    boolean canSendInLine() {
        return sent != RequestOpcode.SEND_WITH_INVALIDATE && canCompleteInLine(bytes);
    }

    /// Whether the next message can end a receive in its line.
    ///
    /// @param payload the bytes that go there
    boolean canCompleteInLine(long payload) {
        PeerReceives receives = peer.receives();
        long position = receives.oldest();
        return position >= 0 && receives.takesPayload(position, payload);
    }

    /// Delivers a SEND for which [#canSendInLine()].
    int sendInLine(@Nullable MemorySegment local, long from) {
        PeerReceives receives = peer.receives();
        if (local != null) {
            ElementList.copyPiece(local, from, peer.memory(), receives.payload(receives.oldest()), bytes);
        }
        return complete(RECEIVE, 0, Outcome.DONE, true);
    }

    /// The [Outcome] of the last [#sendPiece].
    int outcome() {
        return outcome;
    }

    private int put(MemorySegment local, long from, MemorySegment remote) {
        try {
            ElementList.copyPiece(local, from, remote, peer.foundOffset(), bytes);
            peer.throwFault();
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
        return peer.isBound() && peer.receives().mayComplete() ? endWithPayload(false) : Outcome.NO_PEER;
    }

    private int endWithPayload(boolean isPlaced) {
        return complete(RECEIVE, taken, invalidated() ? Outcome.DONE : REMOTE_INVALID, isPlaced);
    }

    /// Ends a receive that was taken for a payload which could not be copied. If the peer has failed, or was reset or
    /// closed meanwhile, its receive has ended already.
    ///
    /// @param result why not
    private int endWithoutPayload(int result) {
        if (!peer.isBound()) {
            // The peer may live. It finds the journal, and takes its receive back.
            return Outcome.NO_PEER;
        }
        if (!peer.hasReceives()) {
            peer.receives().giveUp();
            return Outcome.NO_PEER;
        }
        boolean mine = result == LOCAL_PROTECTION || result == GENERAL;
        if (!peer.receives().mayComplete()) {
            return mine ? result : Outcome.NO_PEER;
        }
        int status = complete(RECEIVE, taken, FLUSHED, false);
        return mine ? result : status;
    }

    /// Delivers the immediate data of a WRITE, whose payload was written before.
    ///
    /// @param status what the receive completes with
    int writeWithImmediate(int status) {
        PeerReceives receives = peer.receives();
        for (int turn = 0; turn < MOST_TURNS; turn++) {
            long position = receives.oldest();
            if (position < 0) {
                return Outcome.RECEIVER_NOT_READY;
            }
            long workId = receives.workId(position);
            if (receives.takeWithoutMemory(position, workId)) {
                return complete(RECEIVE_WRITE, workId, status, false);
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

    /// Invalidates the peer's key that a SEND with invalidation names, once it has its receive.
    ///
    /// @return false if it names no window
    private boolean invalidated() {
        return sent != RequestOpcode.SEND_WITH_INVALIDATE || peer.invalidate(immediate);
    }

    private int complete(int opcode, long workId, int status, boolean payloadIsPlaced) {
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
        PeerReceives receives = peer.receives();
        long result = receives.complete(fields, payloadIsPlaced);
        if (result != CompletionRing.PUSHED) {
            peer.announce(peer.completions().queue(), result);
            if (result == CompletionRing.OVERRUN) {
                return REMOTE_OPERATION;
            }
        }
        if (status == Outcome.DONE) {
            return receives.hasArrived() ? Outcome.DONE : RETRY_EXCEEDED;
        }
        return peer.fault(status == LOCAL_LENGTH ? REMOTE_INVALID : REMOTE_OPERATION, AsyncEventType.UNKNOWN);
    }
}
