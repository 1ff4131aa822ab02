package io.rdmacomm.soft.roce;

import io.rdmacomm.soft.execution.RequestFault;
import io.rdmacomm.soft.memory.LocalMemory;
import io.rdmacomm.soft.roce.wire.Packet;
import io.rdmacomm.soft.roce.wire.PacketOpcode;
import io.rdmacomm.soft.transport.QueuePairResources;
import io.rdmacomm.soft.transport.RetryTimer;
import io.rdmacomm.soft.transport.Transport;
import io.rdmacomm.verbs.AsyncEventType;
import io.rdmacomm.verbs.RnrTimer;
import io.rdmacomm.verbs.WorkStatus;
import java.lang.foreign.MemorySegment;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/// A reliable connection (IBTA 9.7): it retransmits unacknowledged packets.
final class ReliableConnection implements RoceConnection {
    private static final int SUCCESS = 0;
    private static final int FLUSHED = WorkStatus.FLUSHED.code();
    private static final int RETRY_EXCEEDED = WorkStatus.RETRY_EXCEEDED.code();
    /// Limited, so that the answer to a long READ does not hold up other work.
    private static final int ANSWERS_AT_ONCE = 64;
    /// When packets are retransmitted if the timeout is infinite.
    private static final long ENDLESS_NANOS = 500_000_000;

    private final QueuePairResources queuePair;
    private final LocalMemory memory;
    private final RetryTimer retries;
    private final Transport.Events events;
    private final RoceCounters counters;
    private final PacketOutput output;
    private final ReliableResponder responder;
    private @Nullable ReliableRequester requester;
    /// Whether the timer runs.
    private boolean timed;
    /// When to send again to a peer that has no receive.
    private long heldUntil;
    /// Whether a packet of the peer has arrived since the last tick.
    private boolean heard;
    /// Whether the peer's queue pair is ready: one that was not set up yet does not answer.
    private boolean reached;
    /// The ticks without a packet of the peer.
    private int quietTicks;

    /// @param onLimit called with the number of a shared receive queue that fell below its limit
    ReliableConnection(
            QueuePairResources queuePair,
            LocalMemory memory,
            PacketOutput output,
            RoceCounters counters,
            IntConsumer onLimit) {
        this.queuePair = queuePair;
        this.memory = memory;
        this.retries = queuePair.retries();
        this.events = queuePair.events();
        this.counters = counters;
        this.output = output;
        this.responder = new ReliableResponder(queuePair, memory, output, counters, onLimit);
    }

    // ---- Packets ----

    @Override
    public boolean receive(Packet packet, MemorySegment from) {
        if (packet.opcode == PacketOpcode.CONGESTION) {
            slowDown();
            return true;
        }
        if (PacketOpcode.transport(packet.opcode) != PacketOpcode.RELIABLE) {
            return false;
        }
        heard = true;
        if (PacketOpcode.isResponse(packet.opcode)) {
            answered(packet, from);
        } else {
            responder.receive(packet, from);
        }
        return true;
    }

    /// Asks an idle peer for a sign of life, and gives it up if it does not answer. While requests are in flight,
    /// their timeout does that.
    @Override
    public void tick() {
        ReliableRequester sending = requester();
        reached |= heard;
        if (heard || !reached || sending == null || !sending.isIdle()) {
            heard = false;
            quietTicks = 0;
            return;
        }
        quietTicks++;
        if (quietTicks >= SilenceClock.SILENT_TICKS) {
            events.failed(RETRY_EXCEEDED, 0, AsyncEventType.QUEUE_PAIR_FATAL);
        } else if (quietTicks >= SilenceClock.IDLE_TICKS) {
            sending.ask();
        }
    }

    @Override
    public void reached() {
        reached = true;
    }

    private void slowDown() {
        ReliableRequester sending = requester;
        if (sending != null) {
            sending.window().shrink();
        }
    }

    private void answered(Packet packet, MemorySegment from) {
        ReliableRequester sending = requester;
        if (sending == null) {
            return;
        }
        sending.receive(packet, from);
        int timer = sending.takeNotReadyTimer();
        if (timer >= 0) {
            int failure = retries.receiverNotReady(timer);
            heldUntil = System.nanoTime() + RnrTimer.nanos(timer);
            timed = true;
            if (failure != SUCCESS) {
                sending.failOldest(failure);
            }
        }
    }

    // ---- Sending ----

    @Override
    public void transmit() {
        if (responder.hasSpoken()) {
            events.progressed();
        }
        boolean room = responder.owed().send(ANSWERS_AT_ONCE);
        RequestFault fault = responder.fault();
        if (fault != null && responder.owed().isEmpty()) {
            events.failed(FLUSHED, 0, fault.event());
            return;
        }
        ReliableRequester sending = requester();
        if (sending != null) {
            boolean wasWaiting = sending.isWaiting();
            room &= sending.send();
            int failure = sending.failure();
            if (failure != SUCCESS) {
                events.failed(failure, 0, AsyncEventType.UNKNOWN);
                return;
            }
            if (!wasWaiting && sending.isWaiting()) {
                sending.touch();
            }
        }
        schedule(sending, room);
    }

    /// The requester, once the queue pair has been in READY_TO_SEND.
    private @Nullable ReliableRequester requester() {
        ReliableRequester known = requester;
        if (known == null && queuePair.destination().isSending()) {
            known = new ReliableRequester(queuePair, memory, output, counters);
            requester = known;
        }
        return known;
    }

    /// Makes the engine call when packets must be retransmitted or could not be sent. Leaves a running timer alone:
    /// starting one costs a system call.
    private void schedule(@Nullable ReliableRequester sending, boolean room) {
        if (!room) {
            timed = true;
            retries.again(PacketOutput.ROOM_NANOS);
        } else if (!timed && sending != null && sending.isWaiting()) {
            timed = true;
            retries.again(timeoutNanos());
        }
    }

    private long timeoutNanos() {
        return Math.min(retries.timeoutNanos(), ENDLESS_NANOS);
    }

    @Override
    public void checkTime() {
        if (timed && retries.isDue()) {
            timed = false;
            ReliableRequester sending = requester;
            if (sending != null) {
                checkTime(sending);
            }
        }
    }

    private void checkTime(ReliableRequester sending) {
        long now = System.nanoTime();
        long left;
        if (sending.isHeld()) {
            left = heldUntil - now;
            if (left <= 0) {
                sending.release();
                return;
            }
        } else if (sending.isWaiting()) {
            left = timeoutNanos() - (now - sending.lastProgress());
            if (left <= 0) {
                sending.repeatUnanswered();
                return;
            }
        } else {
            return;
        }
        timed = true;
        retries.again(left);
    }

    // ---- State ----

    @Override
    public boolean isDrained() {
        ReliableRequester sending = requester;
        return sending == null || !sending.hasBegun();
    }

    @Override
    public boolean isAnswered() {
        return responder.owed().isEmpty();
    }

    @Override
    public void close() {
        responder.close();
        ReliableRequester sending = requester;
        if (sending != null) {
            sending.close();
        }
    }
}
