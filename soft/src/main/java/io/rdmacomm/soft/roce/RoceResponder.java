package io.rdmacomm.soft.roce;

import io.rdmacomm.soft.execution.RequestExecution;
import io.rdmacomm.soft.execution.RequestFault;
import io.rdmacomm.soft.mapped.QueuePairBlock;
import io.rdmacomm.soft.memory.ElementList;
import io.rdmacomm.soft.memory.LocalMemory;
import io.rdmacomm.soft.roce.wire.Packet;
import io.rdmacomm.soft.roce.wire.PacketOpcode;
import io.rdmacomm.soft.roce.wire.Psn;
import io.rdmacomm.soft.roce.wire.Syndrome;
import io.rdmacomm.soft.transport.Destination;
import io.rdmacomm.soft.transport.QueuePairResources;
import java.lang.foreign.MemorySegment;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/// The responder of a reliable connection (IBTA 9.7.4): executes the peer's requests in the order of their packet
/// sequence numbers, each once. Under the queue pair's send lock; allocates nothing.
final class RoceResponder {
    /// Acknowledgements between READs; those behind one another are joined.
    private static final int ROOM = 4;

    private static final int NONE = -1;

    private final QueuePairBlock block;
    private final RequestExecution execution;
    private final OwedAnswers owed;
    private final AtomicHistory atomics;
    private final RoceCounters counters;
    private final ElementList source = new ElementList(1);
    private final int mtu;
    private int expected;
    private int completed;
    /// The peer was told which packet is expected, and everything else is dropped until it comes.
    private boolean waiting;
    /// The kind of the message that has begun: an opcode of its middle packets, or NONE.
    private int inside = NONE;

    private long messageBytes;
    private long writeBytes;
    private boolean spoken;
    private @Nullable RequestFault fault;

    RoceResponder(
            QueuePairResources queuePair,
            LocalMemory memory,
            PacketOutput output,
            RoceCounters counters,
            IntConsumer onLimit) {
        Destination destination = queuePair.destination();
        this.block = queuePair.block();
        this.counters = counters;
        this.mtu = destination.mtu();
        this.expected = destination.receivePsn();
        this.execution = new RequestExecution(queuePair, memory, destination.number(), onLimit);
        int reads = destination.inboundReads();
        this.owed = new OwedAnswers(execution, output, mtu, Integer.highestOneBit(ROOM * reads) * 2);
        this.atomics = new AtomicHistory(reads);
    }

    /// The answers to the peer.
    OwedAnswers owed() {
        return owed;
    }

    /// The execution of requests.
    RequestExecution execution() {
        return execution;
    }

    /// Whether the peer has sent a request.
    boolean hasSpoken() {
        return spoken;
    }

    /// Why a request was not executed, which ends the connection; null if all were.
    @Nullable
    RequestFault fault() {
        return fault != null ? fault : owed.fault();
    }

    /// A packet of a request has arrived.
    ///
    /// @param from the packet
    void receive(Packet packet, MemorySegment from) {
        if (fault != null) {
            return;
        }
        int ahead = Psn.distance(packet.psn, expected);
        if (ahead > 0) {
            if (!waiting) {
                waiting = true;
                counters.outOfOrder.increment();
                owed.refuse(expected, Syndrome.SEQUENCE_ERROR, completed);
            }
        } else if (ahead < 0) {
            counters.duplicates.increment();
            repeat(packet);
        } else {
            waiting = false;
            spoken = true;
            execute(packet, from);
        }
    }

    /// A request that was executed before: the answer was lost, or was late.
    private void repeat(Packet packet) {
        switch (packet.opcode) {
            case PacketOpcode.READ_REQUEST -> {
                if (beginRead(packet) == null && !owed.isFull()) {
                    owe(packet);
                }
            }
            case PacketOpcode.COMPARE_AND_SWAP, PacketOpcode.FETCH_AND_ADD -> {
                int index = atomics.find(packet.psn);
                if (index >= 0 && !owed.isFull()) {
                    owed.atomic(packet.psn, atomics.original(index), completed);
                }
            }
            default -> owed.acknowledge(Psn.add(expected, -1), completed);
        }
    }

    private void execute(Packet packet, MemorySegment from) {
        boolean first = PacketOpcode.isFirst(packet.opcode);
        boolean send = PacketOpcode.isSend(packet.opcode);
        int kind = send ? PacketOpcode.SEND_MIDDLE : PacketOpcode.WRITE_MIDDLE;
        boolean inOrder = first ? inside == NONE : inside == kind;
        boolean last = PacketOpcode.isLast(packet.opcode);
        boolean fits = last ? packet.payloadBytes <= mtu : packet.payloadBytes == mtu;
        if (!inOrder || !fits) {
            refuse(packet, RequestFault.INVALID_REQUEST);
            return;
        }
        switch (packet.opcode) {
            case PacketOpcode.READ_REQUEST -> read(packet);
            case PacketOpcode.COMPARE_AND_SWAP, PacketOpcode.FETCH_AND_ADD -> atomic(packet);
            default -> {
                if (first) {
                    messageBytes = 0;
                }
                boolean done = send ? send(packet, from, first, last) : write(packet, from, first, last);
                if (done) {
                    inside = last ? NONE : kind;
                    executed(packet, last);
                }
            }
        }
    }

    /// A packet of a SEND or WRITE was executed.
    private void executed(Packet packet, boolean last) {
        expected = Psn.add(expected, 1);
        if (last) {
            completed++;
        }
        if (packet.wantsAnswer) {
            owed.acknowledge(packet.psn, completed);
        }
    }

    private boolean send(Packet packet, MemorySegment from, boolean first, boolean last) {
        if (first && !execution.takeReceive()) {
            return missesReceive(packet);
        }
        long end = messageBytes + packet.payloadBytes;
        RequestFault bad = execution.checkReceive(end);
        if (bad == null && !execution.received().copy(from, packet.payloadAt, packet.payloadBytes)) {
            bad = execution.lostReceive();
        }
        messageBytes = end;
        if (bad == null && last) {
            bad = endSend(packet);
        }
        return bad == null || refuse(packet, bad);
    }

    private @Nullable RequestFault endSend(Packet packet) {
        if (PacketOpcode.hasInvalidate(packet.opcode)) {
            return execution.completeSendWithInvalidate(messageBytes, packet.solicited, packet.immediate);
        }
        if (PacketOpcode.hasImmediate(packet.opcode)) {
            execution.completeSendWithImmediate(messageBytes, packet.solicited, packet.immediate);
        } else {
            execution.completeSend(messageBytes, packet.solicited);
        }
        return null;
    }

    private boolean write(Packet packet, MemorySegment from, boolean first, boolean last) {
        if (first) {
            writeBytes = Integer.toUnsignedLong(packet.length);
            if (writeBytes > RocePort.MOST_BYTES) {
                return refuse(packet, RequestFault.INVALID_REQUEST);
            }
            RequestFault bad = execution.beginWrite(packet.key, packet.address, writeBytes);
            if (bad != null) {
                return refuse(packet, bad);
            }
        }
        long end = messageBytes + packet.payloadBytes;
        if (last ? end != writeBytes : end >= writeBytes) {
            return refuse(packet, RequestFault.INVALID_REQUEST);
        }
        // Before anything is written: without one, the packet comes again.
        if (PacketOpcode.hasImmediate(packet.opcode) && !execution.takeReceive()) {
            return missesReceive(packet);
        }
        if (!execution.writes().copy(from, packet.payloadAt, packet.payloadBytes)) {
            return refuse(packet, RequestFault.INVALID_KEY);
        }
        messageBytes = end;
        if (PacketOpcode.hasImmediate(packet.opcode)) {
            execution.completeWriteWithImmediate(messageBytes, packet.solicited, packet.immediate);
        }
        return true;
    }

    /// There is no receive: the peer waits, and repeats this packet.
    private boolean missesReceive(Packet packet) {
        waiting = true;
        owed.refuse(packet.psn, Syndrome.notReady(block.rnrTimer()), completed);
        return false;
    }

    private void read(Packet packet) {
        RequestFault bad = beginRead(packet);
        if (bad != null || owed.isFull()) {
            refuse(packet, bad != null ? bad : RequestFault.INVALID_REQUEST);
            return;
        }
        completed++;
        long bytes = Integer.toUnsignedLong(packet.length);
        expected = Psn.add(expected, (int) Math.max(1, (bytes + mtu - 1) / mtu));
        owe(packet);
    }

    private @Nullable RequestFault beginRead(Packet packet) {
        long bytes = Integer.toUnsignedLong(packet.length);
        return bytes > RocePort.MOST_BYTES
                ? RequestFault.INVALID_REQUEST
                : execution.beginRead(packet.key, packet.address, bytes, source);
    }

    private void owe(Packet read) {
        owed.read(read.psn, read.key, read.address, Integer.toUnsignedLong(read.length), completed);
    }

    private void atomic(Packet packet) {
        RequestFault bad = execution.beginAtomic(packet.key, packet.address);
        if (bad != null || owed.isFull()) {
            refuse(packet, bad != null ? bad : RequestFault.INVALID_REQUEST);
            return;
        }
        boolean compare = packet.opcode == PacketOpcode.COMPARE_AND_SWAP;
        long operand = compare ? packet.compare : packet.operand;
        long original = execution.executeAtomic(compare, operand, packet.operand);
        atomics.add(packet.psn, original);
        completed++;
        expected = Psn.add(expected, 1);
        owed.atomic(packet.psn, original, completed);
    }

    private boolean refuse(Packet packet, RequestFault why) {
        fault = why;
        counters.refused.increment();
        owed.refuse(packet.psn, Syndrome.refusal(why.status()), completed);
        return false;
    }

    /// Releases all memory.
    void close() {
        execution.release();
        owed.close();
        source.clear();
    }
}
