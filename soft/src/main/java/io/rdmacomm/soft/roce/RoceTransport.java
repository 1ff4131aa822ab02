package io.rdmacomm.soft.roce;

import io.rdmacomm.soft.mapped.QueuePairBlock;
import io.rdmacomm.soft.memory.LocalMemory;
import io.rdmacomm.soft.roce.wire.Packet;
import io.rdmacomm.soft.transport.Destination;
import io.rdmacomm.soft.transport.QueuePairResources;
import io.rdmacomm.soft.transport.RequestQueue;
import io.rdmacomm.soft.transport.RetryTimer;
import io.rdmacomm.soft.transport.SendLock;
import io.rdmacomm.soft.transport.Transport;
import io.rdmacomm.verbs.AsyncEventType;
import io.rdmacomm.verbs.QueuePairType;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.service.SafeLogger;
import io.rdmacomm.verbs.spi.SendRequest;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.function.IntConsumer;

/// Transport over RoCE v2: passes a queue pair's packets to its [RoceConnection], and lets that send.
final class RoceTransport implements Transport {
    private static final SafeLogger LOGGER = SafeLogger.of(RoceTransport.class);
    private static final int GENERAL_ERROR = WorkStatus.GENERAL_ERROR.code();

    private final RocePort port;
    private final int number;
    private final QueuePairBlock block;
    private final RequestQueue sends;
    private final SendLock lock;
    private final Events events;
    private final int peerHost;
    private final RoceCounters counters;
    private final PacketOutput output;
    private final RetryTimer retries;
    private final RoceConnection connection;
    private boolean stopped;

    /// @param onLimit called with the number of a shared receive queue that fell below its limit
    RoceTransport(
            RocePort port,
            QueuePairResources queuePair,
            LocalMemory memory,
            InetSocketAddress peer,
            IntConsumer onLimit) {
        this.port = port;
        this.number = queuePair.number();
        this.block = queuePair.block();
        this.sends = queuePair.sends();
        this.lock = queuePair.lock();
        this.events = queuePair.events();
        this.retries = queuePair.retries();
        this.peerHost = PacketSocket.bits(peer.getAddress());
        RoceNode node = port.node();
        this.counters = node.counters();
        Destination destination = queuePair.destination();
        this.output = new PacketOutput(node.socket(), destination.mtu(), /* together= */ true);
        output.address(peer, destination.number());
        this.connection = queuePair.type() == QueuePairType.UNRELIABLE_CONNECTED
                ? new UnreliableConnection(queuePair, memory, output, counters, onLimit)
                : new ReliableConnection(queuePair, memory, output, counters, onLimit);
    }

    int number() {
        return number;
    }

    /// Whether packets from this address are the peer's, with any port.
    ///
    /// @param host IPv4 address
    boolean isPeer(int host) {
        return host == peerHost;
    }

    // ---- Packets; the receiving thread ----

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
            if (!connection.receive(packet, from)) {
                counters.strays.getAndIncrement();
            }
        } catch (RuntimeException | Error e) {
            broken(e);
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

    /// Fails this queue pair; the others and the thread continue.
    private void broken(Throwable e) {
        // First: logging may need memory that is not available.
        events.failed(GENERAL_ERROR, 0, AsyncEventType.QUEUE_PAIR_FATAL);
        LOGGER.log(System.Logger.Level.WARNING, () -> this + " has failed", e);
    }

    // ---- Sending ----

    @Override
    public int post(SendRequest[] requests, int first, int end) {
        int kept = sends.add(requests, first, end) - first;
        drive();
        return kept;
    }

    @Override
    public void resume() {
        connection.checkTime();
        drive();
    }

    /// A tick of the [SilenceClock] has passed; the engine. If another thread uses the queue pair, it is not idle.
    void tick() {
        if (!lock.tryEnter()) {
            return;
        }
        try {
            if (!stopped) {
                connection.tick();
                var _ = output.flush();
            }
        } catch (RuntimeException | Error e) {
            broken(e);
        } finally {
            lock.leave();
        }
    }

    /// The peer's queue pair is known to be ready.
    void reached() {
        lock.enter();
        try {
            connection.reached();
        } finally {
            lock.leave();
        }
    }

    private void drive() {
        if (stopped) {
            return;
        }
        block.beginExecuting();
        try {
            transmit();
        } catch (RuntimeException | Error e) {
            // The requests have been posted, so the caller must not get an exception.
            broken(e);
        } finally {
            block.endExecuting();
        }
    }

    private void transmit() {
        connection.transmit();
        if (!output.flush()) {
            retries.again(PacketOutput.ROOM_NANOS);
        }
    }

    // ---- State ----

    @Override
    public boolean isDrained() {
        return connection.isDrained();
    }

    @Override
    public boolean isIdle() {
        return sends.isEmpty() && connection.isAnswered();
    }

    @Override
    public boolean isAgreed() {
        return true;
    }

    @Override
    public void stop(boolean orderly) {
        if (!stopped) {
            stopped = true;
            connection.close();
            output.release();
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
