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
import io.rdmacomm.soft.transport.ReceiveQueue;
import java.lang.foreign.MemorySegment;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/// The responder of a reliable connection (IBTA 9.7.4): executes the peer's requests in the order of their packet
/// sequence numbers, each once. Under the queue pair's send lock; allocates nothing.
final class ReliableResponder {
    /// Room for acknowledgements between READs; adjacent ones are merged.
    private static final int ROOM = 4;

    private final QueuePairBlock block;
    private final ReceiveQueue receives;
    private final RequestExecution execution;
    private final MessageExecution messages;
    private final OwedAnswers owed;
    private final AtomicHistory atomics;
    private final RoceCounters counters;
    private final ElementList source = new ElementList(1);
    private final int mtu;
    private int expected;
    private int completed;
    /// The peer was told which packet is expected; all others are dropped until it comes.
    private boolean waiting;

    private boolean spoken;
    private @Nullable RequestFault fault;

    ReliableResponder(
            QueuePairResources queuePair,
            LocalMemory memory,
            PacketOutput output,
            RoceCounters counters,
            IntConsumer onLimit) {
        Destination destination = queuePair.destination();
        this.block = queuePair.block();
        this.receives = queuePair.receives();
        this.counters = counters;
        this.mtu = destination.mtu();
        this.expected = destination.receivePsn();
        this.execution = new RequestExecution(queuePair, memory, destination.number(), onLimit);
        this.messages = new MessageExecution(execution, mtu);
        int reads = destination.inboundReads();
        this.owed = new OwedAnswers(execution, output, mtu, Integer.highestOneBit(ROOM * reads) * 2);
        this.atomics = new AtomicHistory(reads);
    }

    /// The answers to the peer.
    OwedAnswers owed() {
        return owed;
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
                counters.outOfOrder.getAndIncrement();
                owed.refuse(expected, Syndrome.SEQUENCE_ERROR, completed);
            }
        } else if (ahead < 0) {
            counters.duplicates.getAndIncrement();
            repeat(packet);
        } else {
            waiting = false;
            spoken = true;
            execute(packet, from);
        }
    }

    /// Answers a request that was already executed: the answer was lost or late.
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
        if (!messages.fits(packet)) {
            refuse(packet, RequestFault.INVALID_REQUEST);
            return;
        }
        switch (packet.opcode) {
            case PacketOpcode.READ_REQUEST -> read(packet);
            case PacketOpcode.COMPARE_AND_SWAP, PacketOpcode.FETCH_AND_ADD -> atomic(packet);
            default -> message(packet, from);
        }
    }

    private void message(Packet packet, MemorySegment from) {
        if (messages.execute(packet, from)) {
            executed(packet);
            return;
        }
        RequestFault why = messages.fault();
        if (why == null) {
            missesReceive(packet);
            return;
        }
        if (why == RequestFault.RECEIVE_TOO_SHORT || why == RequestFault.RECEIVE_MEMORY) {
            var _ = execution.failReceive(why);
        }
        refuse(packet, why);
    }

    /// A packet of a SEND or WRITE was executed.
    private void executed(Packet packet) {
        expected = Psn.add(expected, 1);
        if (PacketOpcode.isLast(packet.opcode)) {
            completed++;
        }
        if (packet.wantsAnswer) {
            owed.acknowledge(packet.psn, completed);
        }
    }

    /// There is no receive: the peer will wait, and retransmit this packet.
    private void missesReceive(Packet packet) {
        waiting = true;
        owed.refuse(packet.psn, Syndrome.notReady(block.rnrTimer()), completed);
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
        return bytes > Packet.MOST_MESSAGE_BYTES
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

    private void refuse(Packet packet, RequestFault why) {
        fault = why;
        counters.refused.getAndIncrement();
        owed.refuse(packet.psn, Syndrome.refusal(why.status()), completed);
    }

    /// Gives back the receive of an incomplete message, and releases all memory.
    void close() {
        execution.giveBackReceive(receives);
        execution.release();
        owed.close();
        source.clear();
    }
}
