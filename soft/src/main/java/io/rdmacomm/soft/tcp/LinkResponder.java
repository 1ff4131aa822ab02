package io.rdmacomm.soft.tcp;

import io.rdmacomm.soft.execution.PayloadPlacement;
import io.rdmacomm.soft.execution.RequestExecution;
import io.rdmacomm.soft.execution.RequestFault;
import io.rdmacomm.soft.iwarp.Acknowledgement;
import io.rdmacomm.soft.iwarp.AtomicRequest;
import io.rdmacomm.soft.iwarp.ImmediateData;
import io.rdmacomm.soft.iwarp.Opcode;
import io.rdmacomm.soft.iwarp.ReadRequest;
import io.rdmacomm.soft.iwarp.ReceiveSequence;
import io.rdmacomm.soft.iwarp.SegmentHeader;
import io.rdmacomm.soft.iwarp.TerminateCode;
import io.rdmacomm.soft.iwarp.Violation;
import io.rdmacomm.soft.memory.ElementList;
import io.rdmacomm.soft.memory.LocalMemory;
import io.rdmacomm.soft.transport.QueuePairResources;
import io.rdmacomm.soft.transport.ReceiveQueue;
import io.rdmacomm.verbs.AsyncEventType;
import java.nio.ByteBuffer;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/// The responder's half of a link: checks, executes and counts the peer's requests. Under the queue
/// pair's send lock.
final class LinkResponder {
    private static final Refusal INVALID_REQUEST = Refusal.of(RequestFault.INVALID_REQUEST);

    private final LinkTerms terms;
    private final RequestExecution execution;
    private final OwedResponses responses;
    private final ReceiveSequence sequence = new ReceiveSequence();
    private final LinkCounters counters;
    private final ReadRequest readRequest = new ReadRequest();
    private final AtomicRequest atomicRequest = new AtomicRequest();
    private final ElementList readSource = new ElementList(1);
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
        this.terms = terms;
        this.counters = counters;
        this.execution = new RequestExecution(queuePair, memory, terms.peerNumber(), onLimit);
        this.responses = new OwedResponses(memory, execution.keys(), terms);
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
        return refusal == null && responses.isRefused() ? Refusal.of(RequestFault.INVALID_KEY) : refusal;
    }

    /// Whether a message has taken a receive and is not complete.
    boolean isInsideReceive() {
        return execution.hasReceive();
    }

    /// Gives back the receive that was taken and not completed, to be flushed.
    void giveBackReceive(ReceiveQueue receives) {
        execution.giveBackReceive(receives);
    }

    /// Does not count the peer's first frame, which only announces that it is ready to receive (RFC 6581 5).
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
        boolean takes = Opcode.takesReceive(header.opcode) && header.messageOffset == 0 && !execution.hasReceive();
        if (takes && !execution.takeReceive()) {
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
        RequestFault fault = execution.beginWrite(header.key, header.address, header.payloadBytes);
        return fault == null ? FrameInput.PLACE : refuse(Refusal.ofWrite(fault));
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
        return place(execution.beginRead(readRequest.sourceKey, readRequest.sourceAddress, bytes, readSource));
    }

    private int beginAtomic(ByteBuffer from, int at) {
        Violation violation = atomicRequest.decode(from, at);
        if (violation != Violation.NONE && violation != Violation.ATOMIC_ALIGNMENT) {
            return refuse(violation);
        }
        if (responses.isFull()) {
            return refuse(INVALID_REQUEST);
        }
        return place(execution.beginAtomic(atomicRequest.key, atomicRequest.address));
    }

    private int beginImmediate(ByteBuffer from, int at) {
        immediate = ImmediateData.decode(from, at);
        return FrameInput.PLACE;
    }

    private int beginSend(SegmentHeader header) {
        RequestFault fault = execution.checkReceive(sequence.offset() + header.payloadBytes);
        return place(fault == null ? null : execution.failReceive(fault));
    }

    private int place(@Nullable RequestFault fault) {
        return fault == null ? FrameInput.PLACE : refuse(Refusal.of(fault));
    }

    /// The target for the payload of a request, once it has begun.
    PayloadPlacement placement(int opcode) {
        return opcode == Opcode.WRITE ? execution.writes() : execution.received();
    }

    /// The memory for the payload of a request is gone.
    void lostMemory(int opcode) {
        refusal = opcode == Opcode.WRITE
                ? Refusal.ofWrite(RequestFault.INVALID_KEY)
                : Refusal.of(execution.failReceive(RequestFault.RECEIVE_MEMORY));
    }

    /// Releases all memory.
    void release() {
        execution.release();
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
                execution.completeWriteWithImmediate(writtenBytes, Opcode.isSolicited(header.opcode), immediate);
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
        long original = execution.executeAtomic(compare, operand, atomicRequest.value);
        responses.addAtomic(atomicRequest.identifier, original);
        executed++;
    }

    private boolean endSend(SegmentHeader header) {
        long bytes = sequence.offset() + header.payloadBytes;
        boolean solicited = Opcode.isSolicited(header.opcode);
        if (Opcode.invalidates(header.opcode)) {
            RequestFault fault = execution.completeSendWithInvalidate(bytes, solicited, header.key);
            if (fault != null) {
                refusal = Refusal.of(fault);
                return false;
            }
        } else if (header.opcode == Opcode.SEND_IMMEDIATE || header.opcode == Opcode.SEND_SOLICITED_IMMEDIATE) {
            execution.completeSendWithImmediate(bytes, solicited, header.key);
        } else {
            execution.completeSend(bytes, solicited);
        }
        executed++;
        return true;
    }
}
