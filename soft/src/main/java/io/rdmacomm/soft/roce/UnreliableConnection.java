package io.rdmacomm.soft.roce;

import io.rdmacomm.soft.execution.RequestFault;
import io.rdmacomm.soft.memory.LocalMemory;
import io.rdmacomm.soft.roce.wire.Packet;
import io.rdmacomm.soft.roce.wire.PacketOpcode;
import io.rdmacomm.soft.transport.QueuePairResources;
import io.rdmacomm.soft.transport.Transport;
import io.rdmacomm.verbs.WorkStatus;
import java.lang.foreign.MemorySegment;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/// An unreliable connection (IBTA 9.8): SENDs and WRITEs without answers.
final class UnreliableConnection implements RoceConnection {
    private static final int SUCCESS = 0;
    private static final int FLUSHED = WorkStatus.FLUSHED.code();

    private final QueuePairResources queuePair;
    private final Transport.Events events;
    private final PacketOutput output;
    private final UnreliableResponder responder;
    private @Nullable UnreliableRequester requester;

    /// @param onLimit called with the number of a shared receive queue that fell below its limit
    UnreliableConnection(
            QueuePairResources queuePair,
            LocalMemory memory,
            PacketOutput output,
            RoceCounters counters,
            IntConsumer onLimit) {
        this.queuePair = queuePair;
        this.events = queuePair.events();
        this.output = output;
        this.responder = new UnreliableResponder(queuePair, memory, counters, onLimit);
    }

    @Override
    public boolean receive(Packet packet, MemorySegment from) {
        if (PacketOpcode.transport(packet.opcode) == PacketOpcode.UNRELIABLE) {
            responder.receive(packet, from);
            return true;
        }
        // There is no window to shrink.
        return packet.opcode == PacketOpcode.CONGESTION;
    }

    @Override
    public void transmit() {
        if (responder.hasSpoken()) {
            events.progressed();
        }
        RequestFault fault = responder.fault();
        if (fault != null) {
            events.failed(FLUSHED, 0, fault.event());
            return;
        }
        UnreliableRequester sending = requester();
        if (sending == null) {
            return;
        }
        if (!sending.send()) {
            queuePair.retries().again(PacketOutput.ROOM_NANOS);
        }
        int failure = sending.takeFailure();
        if (failure != SUCCESS) {
            events.sendingFailed(failure);
        }
    }

    /// The requester, once the queue pair has been in READY_TO_SEND.
    private @Nullable UnreliableRequester requester() {
        UnreliableRequester known = requester;
        if (known == null && queuePair.destination().isSending()) {
            known = new UnreliableRequester(queuePair, output);
            requester = known;
        }
        return known;
    }

    @Override
    public boolean isDrained() {
        UnreliableRequester sending = requester;
        return sending == null || !sending.hasBegun();
    }

    @Override
    public void close() {
        responder.close();
        UnreliableRequester sending = requester;
        if (sending != null) {
            sending.close();
        }
    }
}
