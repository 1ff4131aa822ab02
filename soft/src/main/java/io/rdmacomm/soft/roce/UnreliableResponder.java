package io.rdmacomm.soft.roce;

import io.rdmacomm.soft.execution.RequestExecution;
import io.rdmacomm.soft.execution.RequestFault;
import io.rdmacomm.soft.memory.LocalMemory;
import io.rdmacomm.soft.roce.wire.Packet;
import io.rdmacomm.soft.roce.wire.PacketOpcode;
import io.rdmacomm.soft.roce.wire.Psn;
import io.rdmacomm.soft.transport.QueuePairResources;
import io.rdmacomm.soft.transport.ReceiveQueue;
import java.lang.foreign.MemorySegment;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/// The responder of an unreliable connection (IBTA 9.8.2). A message that lacks a packet or a receive, or is not
/// allowed, is silently dropped: the part of a WRITE that has come stays, and the receive of a SEND waits for the
/// next message. The first packet of a message always begins a new one, whatever its number. Under the queue pair's
/// send lock; allocates nothing.
final class UnreliableResponder {
    private final ReceiveQueue receives;
    private final RequestExecution execution;
    private final MessageExecution messages;
    private final RoceCounters counters;
    private int expected;
    /// Whether the rest of the present message is dropped.
    private boolean dropping;

    private boolean spoken;
    private @Nullable RequestFault fault;

    UnreliableResponder(QueuePairResources queuePair, LocalMemory memory, RoceCounters counters, IntConsumer onLimit) {
        this.receives = queuePair.receives();
        this.execution =
                new RequestExecution(queuePair, memory, queuePair.destination().number(), onLimit);
        this.messages = new MessageExecution(execution, queuePair.destination().mtu());
        this.counters = counters;
        this.expected = queuePair.destination().receivePsn();
    }

    /// Whether the peer has sent a message.
    boolean hasSpoken() {
        return spoken;
    }

    /// Why the connection ends although messages may be lost: the memory of a receive must not be used. Else null.
    @Nullable
    RequestFault fault() {
        return fault;
    }

    /// A packet has arrived.
    ///
    /// @param from the packet
    void receive(Packet packet, MemorySegment from) {
        if (fault != null) {
            return;
        }
        boolean follows = packet.psn == expected;
        expected = Psn.add(packet.psn, 1);
        if (!follows) {
            counters.outOfOrder.getAndIncrement();
        }
        if (PacketOpcode.isFirst(packet.opcode)) {
            if (messages.hasBegun()) {
                drop();
            }
            dropping = false;
        } else if (!follows) {
            drop();
        }
        if (!dropping) {
            execute(packet, from);
        }
    }

    private void execute(Packet packet, MemorySegment from) {
        if (messages.fits(packet) && messages.execute(packet, from)) {
            spoken = true;
            return;
        }
        if (messages.fault() == RequestFault.RECEIVE_MEMORY) {
            fault = execution.failReceive(RequestFault.RECEIVE_MEMORY);
        }
        drop();
    }

    private void drop() {
        if (!dropping) {
            dropping = true;
            messages.abandon();
            counters.dropped.getAndIncrement();
        }
    }

    /// Gives back the receive of an incomplete message, and releases all memory.
    void close() {
        execution.giveBackReceive(receives);
        execution.release();
    }
}
