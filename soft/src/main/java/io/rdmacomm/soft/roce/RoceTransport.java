package io.rdmacomm.soft.roce;

import io.rdmacomm.soft.execution.RequestFault;
import io.rdmacomm.soft.mapped.QueuePairBlock;
import io.rdmacomm.soft.memory.LocalMemory;
import io.rdmacomm.soft.roce.wire.Packet;
import io.rdmacomm.soft.roce.wire.PacketOpcode;
import io.rdmacomm.soft.transport.QueuePairResources;
import io.rdmacomm.soft.transport.ReceiveQueue;
import io.rdmacomm.soft.transport.RequestQueue;
import io.rdmacomm.soft.transport.RetryTimer;
import io.rdmacomm.soft.transport.SendLock;
import io.rdmacomm.soft.transport.Transport;
import io.rdmacomm.verbs.AsyncEventType;
import io.rdmacomm.verbs.RnrTimer;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.service.SafeLogger;
import io.rdmacomm.verbs.spi.RequestChain;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/// Transport over RoCE v2: the requester and the responder of a queue pair, and their timers.
final class RoceTransport implements Transport {
    private static final SafeLogger LOGGER = SafeLogger.of(RoceTransport.class);
    private static final int SUCCESS = 0;
    private static final int FLUSHED = WorkStatus.FLUSHED.code();
    private static final int GENERAL_ERROR = WorkStatus.GENERAL_ERROR.code();
    /// So that the answer to a long READ does not hold up others.
    private static final int ANSWERS_AT_ONCE = 64;
    /// When packets are repeated that may be unacknowledged for ever.
    private static final long ENDLESS_NANOS = 500_000_000;
    /// When to try again if the socket has no room.
    private static final long ROOM_NANOS = 50_000;

    private final RocePort port;
    private final QueuePairResources queuePair;
    private final LocalMemory memory;
    private final QueuePairBlock block;
    private final RequestQueue sends;
    private final ReceiveQueue receives;
    private final RetryTimer retries;
    private final SendLock lock;
    private final Events events;
    private final InetSocketAddress peer;
    private final RoceCounters counters;
    private final PacketOutput output;
    private final RoceResponder responder;
    private @Nullable RoceRequester requester;
    private boolean stopped;
    /// Whether the timer runs.
    private boolean timed;
    /// Until when the peer has no receive.
    private long heldUntil;

    /// @param onLimit called with the number of a shared receive queue that fell below its limit
    RoceTransport(
            RocePort port,
            QueuePairResources queuePair,
            LocalMemory memory,
            InetSocketAddress peer,
            IntConsumer onLimit) {
        this.port = port;
        this.queuePair = queuePair;
        this.memory = memory;
        this.block = queuePair.block();
        this.sends = queuePair.sends();
        this.receives = queuePair.receives();
        this.retries = queuePair.retries();
        this.lock = queuePair.lock();
        this.events = queuePair.events();
        this.peer = peer;
        RoceNode node = port.node();
        this.counters = node.counters();
        this.output = new PacketOutput(node, queuePair.destination().mtu());
        output.address(peer, queuePair.destination().number());
        this.responder = new RoceResponder(queuePair, memory, output, counters, onLimit);
    }

    int number() {
        return queuePair.number();
    }

    /// Whether packets from this address are the peer's, with any port.
    boolean isPeer(InetSocketAddress from) {
        return from.getAddress().equals(peer.getAddress());
    }

    // ---- Packets; the thread that receives ----

    /// Takes the lock for packets that have arrived.
    ///
    /// @return false if the queue pair is no longer connected
    boolean enter() {
        lock.enter();
        if (stopped) {
            lock.leave();
            return false;
        }
        block.beginExecuting();
        return true;
    }

    /// A packet has arrived; after [#enter].
    void receive(Packet packet, MemorySegment from) {
        if (stopped) {
            return;
        }
        try {
            if (packet.opcode == PacketOpcode.CONGESTION) {
                slowDown();
            } else if (PacketOpcode.transport(packet.opcode) != PacketOpcode.RELIABLE) {
                counters.strays.increment();
            } else if (PacketOpcode.isResponse(packet.opcode)) {
                answered(packet, from);
            } else {
                responder.receive(packet, from);
            }
        } catch (RuntimeException | Error e) {
            broken(e);
        }
    }

    private void slowDown() {
        RoceRequester sending = requester;
        if (sending != null) {
            sending.window().shrink();
        }
    }

    private void answered(Packet packet, MemorySegment from) {
        RoceRequester sending = requester;
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

    /// Sends the answers to the packets, and gives the lock back.
    void leave() {
        try {
            if (!stopped) {
                transmit();
            }
        } catch (RuntimeException | Error e) {
            broken(e);
        } finally {
            block.endExecuting();
            lock.leave();
        }
    }

    /// Costs this queue pair, and neither the others nor the thread.
    private void broken(Throwable e) {
        // First: the report may need memory that is not there.
        events.failed(GENERAL_ERROR, 0, AsyncEventType.QUEUE_PAIR_FATAL);
        LOGGER.log(System.Logger.Level.WARNING, () -> this + " has failed", e);
    }

    // ---- Sending ----

    private void drive() {
        if (stopped) {
            return;
        }
        block.beginExecuting();
        try {
            transmit();
        } finally {
            block.endExecuting();
        }
    }

    private void transmit() {
        if (responder.hasSpoken()) {
            events.progressed();
        }
        boolean room = responder.owed().send(ANSWERS_AT_ONCE);
        RequestFault fault = responder.fault();
        if (fault != null && responder.owed().isEmpty()) {
            events.failed(FLUSHED, 0, fault.event());
            return;
        }
        RoceRequester sending = requester();
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

    /// The requester, as soon as the queue pair has been in READY_TO_SEND.
    private @Nullable RoceRequester requester() {
        RoceRequester known = requester;
        if (known == null && queuePair.destination().isSending()) {
            known = new RoceRequester(queuePair, memory, output, counters);
            requester = known;
        }
        return known;
    }

    /// Has the engine call [#resume] when something is to be repeated or could not be sent. A timer that runs is left
    /// alone: it costs a call of the system to start one.
    private void schedule(@Nullable RoceRequester sending, boolean room) {
        if (!room) {
            timed = true;
            retries.again(ROOM_NANOS);
        } else if (!timed && sending != null && sending.isWaiting()) {
            timed = true;
            retries.again(timeoutNanos());
        }
    }

    private long timeoutNanos() {
        return Math.min(retries.timeoutNanos(), ENDLESS_NANOS);
    }

    @Override
    public int post(RequestChain batch, int first, int end) {
        int kept = sends.add(batch, first, end) - first;
        drive();
        return kept;
    }

    @Override
    public void resume() {
        if (timed && retries.isDue()) {
            timed = false;
            RoceRequester sending = requester;
            if (sending != null) {
                checkTime(sending);
            }
        }
        drive();
    }

    private void checkTime(RoceRequester sending) {
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
        RoceRequester sending = requester;
        return sending == null || !sending.hasBegun();
    }

    @Override
    public boolean isIdle() {
        return sends.isEmpty() && responder.owed().isEmpty();
    }

    @Override
    public boolean isAgreed() {
        return true;
    }

    @Override
    public void stop(boolean orderly) {
        if (stopped) {
            return;
        }
        stopped = true;
        responder.execution().giveBackReceive(receives);
        responder.close();
        RoceRequester sending = requester;
        if (sending != null) {
            sending.close();
        }
    }

    @Override
    public void close() {
        stop(true);
        port.remove(this);
    }

    @Override
    public String toString() {
        return "RoCE transport of queue pair 0x" + Integer.toHexString(number());
    }
}
