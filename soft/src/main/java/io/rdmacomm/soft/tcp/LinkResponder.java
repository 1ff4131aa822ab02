package io.rdmacomm.soft.tcp;

import io.rdmacomm.soft.iwarp.Acknowledgement;
import io.rdmacomm.soft.iwarp.AtomicRequest;
import io.rdmacomm.soft.iwarp.ImmediateData;
import io.rdmacomm.soft.iwarp.Opcode;
import io.rdmacomm.soft.iwarp.ReadRequest;
import io.rdmacomm.soft.iwarp.ReceiveSequence;
import io.rdmacomm.soft.iwarp.SegmentHeader;
import io.rdmacomm.soft.iwarp.TerminateCode;
import io.rdmacomm.soft.iwarp.Violation;
import io.rdmacomm.soft.mapped.CompletionFields;
import io.rdmacomm.soft.mapped.QueuePairBlock;
import io.rdmacomm.soft.memory.AccessFault;
import io.rdmacomm.soft.memory.AtomicOperation;
import io.rdmacomm.soft.memory.ElementList;
import io.rdmacomm.soft.memory.LocalKeys;
import io.rdmacomm.soft.memory.LocalMemory;
import io.rdmacomm.soft.transport.CompletionSink;
import io.rdmacomm.soft.transport.QueuePairResources;
import io.rdmacomm.soft.transport.ReceiveQueue;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.AsyncEventType;
import io.rdmacomm.verbs.CompletionOpcode;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.spi.CompletionLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/// The responder's half of a link: checks, executes and counts the peer's requests. Under the queue
/// pair's send lock.
final class LinkResponder {
    private static final int SUCCESS = 0;
    private static final int REMOTE_WRITE = AccessFlag.REMOTE_WRITE.bit();
    private static final int REMOTE_READ = AccessFlag.REMOTE_READ.bit();
    private static final int REMOTE_ATOMIC = AccessFlag.REMOTE_ATOMIC.bit();
    private static final boolean LITTLE_ENDIAN = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;
    private static final Refusal INVALID_REQUEST = new Refusal(
            TerminateCode.OPERATION, Acknowledgement.INVALID_REQUEST, AsyncEventType.QUEUE_PAIR_REQUEST_ERROR);

    private final QueuePairBlock block;
    private final int number;
    private final LinkTerms terms;
    private final CompletionSink completions;
    private final LocalKeys keys;
    private final PayloadPlacement writes;
    private final TakenReceive receive;
    private final OwedResponses responses;
    private final ReceiveSequence sequence = new ReceiveSequence();
    private final LinkCounters counters;
    private final ReadRequest readRequest = new ReadRequest();
    private final AtomicRequest atomicRequest = new AtomicRequest();
    private final ElementList atomicTarget = new ElementList(1);
    private final ElementList readSource = new ElementList(1);
    private final CompletionFields fields = new CompletionFields();
    private int executed;
    private boolean discarding;
    private int refusedNumber;
    private boolean notReady;
    private int immediate;
    private long writtenBytes;
    private boolean readyToReceiveExpected;
    private @Nullable Refusal refusal;

    /// @param onLimit called with the number of a shared receive queue that fell below its limit
    LinkResponder(
            QueuePairResources queuePair,
            LocalMemory memory,
            LinkTerms terms,
            LinkCounters counters,
            IntConsumer onLimit) {
        this.block = queuePair.block();
        this.number = queuePair.number();
        this.terms = terms;
        this.counters = counters;
        this.keys = new LocalKeys(memory, queuePair.domain(), number);
        this.writes = new PayloadPlacement(memory, 1);
        this.completions = queuePair.receives().completions();
        this.receive = new TakenReceive(memory, queuePair.receives().ring().taker(), onLimit);
        this.responses = new OwedResponses(memory, keys, terms);
    }

    /// The order of everything that the peer sends.
    ReceiveSequence sequence() {
        return sequence;
    }

    OwedResponses responses() {
        return responses;
    }

    /// The number of messages that were executed.
    int executed() {
        return executed;
    }

    /// Whether the peer must learn that a message found no receive; resets it.
    boolean takeNotReady() {
        boolean was = notReady;
        notReady = false;
        return was;
    }

    /// Why a request was rejected, or null.
    @Nullable
    Refusal refusal() {
        return refusal == null && responses.isRefused() ? Refusal.ofRead(AccessFault.INVALID_KEY) : refusal;
    }

    /// Whether a message has taken a receive and is not complete.
    boolean isInsideReceive() {
        return receive.isTaken();
    }

    /// Gives back the receive that was taken and not completed, to be flushed.
    void giveBackReceive(ReceiveQueue receives) {
        if (receive.isTaken()) {
            receives.giveBack(receive.workId());
            receive.ended();
        }
    }

    /// The first frame of the peer only announces that it is ready to receive, and does not count (RFC 6581 5).
    void expectReadyToReceive() {
        readyToReceiveExpected = true;
    }

    /// The peer has violated the protocol.
    void violated(Violation violation) {
        counters.violation();
        if (refusal == null) {
            refusal = Refusal.of(violation);
        }
    }

    private int refuse(Refusal why) {
        refusal = why;
        return FrameInput.STOP;
    }

    private int refuse(Violation violation) {
        return refuse(Refusal.of(violation));
    }

    /// A segment of a request begins.
    ///
    /// @return as [FrameInput.Receiver#begin]
    int begin(SegmentHeader header, ByteBuffer from, int at) {
        if (discarding) {
            boolean again = Opcode.takesReceive(header.opcode)
                    && header.messageNumber == refusedNumber
                    && header.messageOffset == 0;
            if (!again) {
                return FrameInput.DISCARD;
            }
            discarding = false;
        }
        boolean takes = Opcode.takesReceive(header.opcode) && header.messageOffset == 0 && !receive.isTaken();
        if (takes && !receive.take()) {
            return missesReceive(header);
        }
        Violation violation = sequence.accept(header);
        if (violation != Violation.NONE) {
            return refuse(violation);
        }
        return switch (header.opcode) {
            case Opcode.WRITE -> beginWrite(header);
            case Opcode.READ_REQUEST -> beginRead(from, at);
            case Opcode.ATOMIC_REQUEST -> beginAtomic(from, at);
            case Opcode.IMMEDIATE, Opcode.IMMEDIATE_SOLICITED -> beginImmediate(from, at);
            default -> beginSend(header);
        };
    }

    private int missesReceive(SegmentHeader header) {
        if (!terms.acknowledges()) {
            return refuse(new Refusal(
                    TerminateCode.NO_RECEIVE,
                    Acknowledgement.OPERATION_ERROR,
                    AsyncEventType.QUEUE_PAIR_REQUEST_ERROR));
        }
        discarding = true;
        notReady = true;
        refusedNumber = header.messageNumber;
        return FrameInput.DISCARD;
    }

    private int beginWrite(SegmentHeader header) {
        writes.clear();
        if (header.payloadBytes == 0) {
            return FrameInput.PLACE;
        }
        if ((block.access() & REMOTE_WRITE) == 0) {
            return refuse(INVALID_REQUEST);
        }
        AccessFault fault = keys.resolve(header.key, header.address, header.payloadBytes, REMOTE_WRITE, writes.pieces);
        if (fault != null) {
            return refuse(Refusal.ofWrite(fault));
        }
        writes.onlyWhileValid(header.key);
        return FrameInput.PLACE;
    }

    private int beginRead(ByteBuffer from, int at) {
        Violation violation = readRequest.decode(from, at);
        if (violation != Violation.NONE) {
            return refuse(violation);
        }
        if (responses.isFull()) {
            return refuse(INVALID_REQUEST);
        }
        long bytes = Integer.toUnsignedLong(readRequest.bytes);
        if (bytes > 0) {
            if ((block.access() & REMOTE_READ) == 0) {
                return refuse(INVALID_REQUEST);
            }
            readSource.clear();
            AccessFault fault =
                    keys.resolve(readRequest.sourceKey, readRequest.sourceAddress, bytes, REMOTE_READ, readSource);
            if (fault != null) {
                return refuse(Refusal.ofRead(fault));
            }
        }
        return FrameInput.PLACE;
    }

    private int beginAtomic(ByteBuffer from, int at) {
        Violation violation = atomicRequest.decode(from, at);
        boolean misaligned = violation == Violation.ATOMIC_ALIGNMENT;
        if (violation != Violation.NONE && !misaligned) {
            return refuse(violation);
        }
        if (responses.isFull() || (block.access() & REMOTE_ATOMIC) == 0) {
            return refuse(INVALID_REQUEST);
        }
        atomicTarget.clear();
        AccessFault fault =
                keys.resolve(atomicRequest.key, atomicRequest.address, Long.BYTES, REMOTE_ATOMIC, atomicTarget);
        if (fault != null) {
            return refuse(Refusal.ofRead(fault));
        }
        return misaligned || !AtomicOperation.isAligned(atomicTarget) ? refuse(INVALID_REQUEST) : FrameInput.PLACE;
    }

    private int beginImmediate(ByteBuffer from, int at) {
        immediate = ImmediateData.decode(from, at);
        return FrameInput.PLACE;
    }

    private int beginSend(SegmentHeader header) {
        int status = receive.check(sequence.offset() + header.payloadBytes);
        return status == SUCCESS ? FrameInput.PLACE : refuse(failReceive(status));
    }

    /// Completes with an error the receive that is too short or bad for its message.
    private Refusal failReceive(int status) {
        completeReceive(CompletionOpcode.RECEIVE, 0, status, false);
        boolean tooShort = status == WorkStatus.LOCAL_LENGTH_ERROR.code();
        return new Refusal(
                tooShort ? TerminateCode.MESSAGE_TOO_LONG : TerminateCode.RDMAP_CATASTROPHIC,
                tooShort ? Acknowledgement.INVALID_REQUEST : Acknowledgement.OPERATION_ERROR,
                AsyncEventType.UNKNOWN);
    }

    /// Where the payload of a request goes, once it has begun.
    PayloadPlacement placement(int opcode) {
        return opcode == Opcode.WRITE ? writes : receive.placement();
    }

    /// The memory that the payload of a request was to be placed into is gone.
    void lostMemory(int opcode) {
        refusal = opcode == Opcode.WRITE
                ? Refusal.ofWrite(AccessFault.INVALID_KEY)
                : failReceive(WorkStatus.LOCAL_PROTECTION_ERROR.code());
    }

    /// Releases all memory.
    void release() {
        writes.release();
        receive.placement().release();
    }

    /// A frame of a request is complete.
    ///
    /// @return false to stop
    boolean end(SegmentHeader header) {
        switch (header.opcode) {
            case Opcode.WRITE -> endWrite(header);
            case Opcode.READ_REQUEST -> {
                responses.addRead(readRequest);
                countUnlessReadyToReceive(readRequest.bytes == 0);
            }
            case Opcode.ATOMIC_REQUEST -> endAtomic();
            case Opcode.IMMEDIATE, Opcode.IMMEDIATE_SOLICITED -> {
                completeReceive(
                        CompletionOpcode.RECEIVE_WRITE_WITH_IMMEDIATE,
                        writtenBytes,
                        SUCCESS,
                        Opcode.isSolicited(header.opcode),
                        CompletionLayout.FLAG_IMMEDIATE,
                        hostInt(immediate));
                executed++;
            }
            default -> {
                return !header.last || endSend(header);
            }
        }
        return true;
    }

    private void endWrite(SegmentHeader header) {
        if (header.last) {
            writtenBytes = sequence.offset() + header.payloadBytes;
            countUnlessReadyToReceive(writtenBytes == 0);
        }
    }

    private void countUnlessReadyToReceive(boolean empty) {
        if (readyToReceiveExpected && empty) {
            readyToReceiveExpected = false;
        } else {
            executed++;
        }
    }

    private void endAtomic() {
        boolean compare = atomicRequest.operation == AtomicRequest.COMPARE_SWAP;
        long operand = compare ? atomicRequest.compare : atomicRequest.value;
        long original = AtomicOperation.execute(atomicTarget, compare, operand, atomicRequest.value);
        responses.addAtomic(atomicRequest.identifier, original);
        executed++;
    }

    private boolean endSend(SegmentHeader header) {
        long bytes = sequence.offset() + header.payloadBytes;
        boolean solicited = Opcode.isSolicited(header.opcode);
        if (Opcode.invalidates(header.opcode)) {
            if (!keys.invalidate(header.key)) {
                completeReceive(CompletionOpcode.RECEIVE, bytes, WorkStatus.REMOTE_INVALID_REQUEST.code(), solicited);
                refusal = new Refusal(
                        TerminateCode.KEY_NOT_INVALIDATED, Acknowledgement.OPERATION_ERROR, AsyncEventType.UNKNOWN);
                return false;
            }
            completeReceive(
                    CompletionOpcode.RECEIVE, bytes, SUCCESS, solicited, CompletionLayout.FLAG_INVALIDATED, header.key);
        } else if (header.opcode == Opcode.SEND_IMMEDIATE || header.opcode == Opcode.SEND_SOLICITED_IMMEDIATE) {
            completeReceive(
                    CompletionOpcode.RECEIVE,
                    bytes,
                    SUCCESS,
                    solicited,
                    CompletionLayout.FLAG_IMMEDIATE,
                    hostInt(header.key));
        } else {
            completeReceive(CompletionOpcode.RECEIVE, bytes, SUCCESS, solicited);
        }
        executed++;
        return true;
    }

    private static int hostInt(int value) {
        return LITTLE_ENDIAN ? Integer.reverseBytes(value) : value;
    }

    private void completeReceive(CompletionOpcode opcode, long bytes, int status, boolean solicited) {
        completeReceive(opcode, bytes, status, solicited, 0, 0);
    }

    private void completeReceive(
            CompletionOpcode opcode, long bytes, int status, boolean solicited, int flags, int value) {
        fields.set(receive.workId(), status, opcode.code(), (int) bytes, number);
        fields.source = terms.peerNumber();
        fields.solicited = solicited;
        fields.flags = flags;
        fields.immediate = value;
        receive.ended();
        completions.push(fields);
    }
}
