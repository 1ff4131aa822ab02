package io.rdmacomm.soft.roce;

import io.rdmacomm.soft.mapped.ControlLayout;
import io.rdmacomm.soft.mapped.QueuePairNumbers;
import io.rdmacomm.soft.memory.LocalMemory;
import io.rdmacomm.soft.roce.cm.CommunicationManager;
import io.rdmacomm.soft.transport.DatagramOutput;
import io.rdmacomm.soft.transport.Engine;
import io.rdmacomm.soft.transport.IncomingDatagram;
import io.rdmacomm.soft.transport.QueuePairResources;
import io.rdmacomm.soft.transport.Transport;
import io.rdmacomm.verbs.AddressVector;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.PathMtu;
import io.rdmacomm.verbs.VerbException;
import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.SelectionKey;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.IntConsumer;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/// The RoCE side of a context: its queue pairs, and which of its threads receive. Threads that poll do, and the engine
/// when none has polled for a moment or one of them is about to sleep.
public final class RocePort implements Engine.Ready, AutoCloseable {
    /// The longest message (IBTA 9.7.6).
    public static final long MOST_BYTES = 1L << 31;

    /// A context that was polled within this time is left to the thread that polls.
    private static final long ATTENDED_NANOS = 2_000_000;

    /// A socket that another thread was reading is left to it for this time.
    private static final long BUSY_NANOS = 100_000;

    private static final int POLL_PACKETS = 16;
    private static final int ENGINE_PACKETS = 64;
    private final LocalMemory memory;
    private final Engine engine;
    private final IntConsumer onLimit;
    private final IntFunction<IncomingDatagram.@Nullable Target> datagramTargets;
    private final RoceNode node;
    private final AtomicReferenceArray<@Nullable RoceTransport> transports =
            new AtomicReferenceArray<>(ControlLayout.QUEUE_PAIR_COUNT);
    private volatile long lastPoll = System.nanoTime() - ATTENDED_NANOS;
    private volatile boolean armed;
    /// Whether the engine does not watch the socket, because a thread polls.
    private volatile boolean left;
    /// Until when it does not even if no thread polls; the engine.
    private long leftUntil = System.nanoTime();

    private final SelectionKey key;

    /// Begins to receive.
    ///
    /// @param bursts whether packets leave together, with native access; the first context here decides
    /// @param onLimit called with the number of a shared receive queue that fell below its limit
    /// @param datagramTargets the queue pairs for datagrams by number
    /// @throws VerbException if the address cannot be used; the message says why, and what to do
    /// @throws IOException if there is no socket left
    public RocePort(
            InetAddress address,
            boolean bursts,
            LocalMemory memory,
            Engine engine,
            IntConsumer onLimit,
            IntFunction<IncomingDatagram.@Nullable Target> datagramTargets)
            throws IOException {
        this.memory = memory;
        this.engine = engine;
        this.onLimit = onLimit;
        this.datagramTargets = datagramTargets;
        this.node = RoceNode.acquire(address, bursts, this);
        boolean complete = false;
        try {
            this.key = engine.register(node.socket().channel(), SelectionKey.OP_READ, this);
            complete = true;
        } finally {
            if (!complete) {
                node.release(this);
            }
        }
    }

    /// The most bytes of payload in a packet.
    public PathMtu mtu() {
        return node.mtu();
    }

    /// Makes connections by address, for all contexts of this process here.
    public CommunicationManager connections() {
        return node.connections();
    }

    /// Has [CommunicationManager#onTime] called soon; any thread.
    public void wakeup() {
        engine.wakeup();
    }

    /// Runs `task` on the engine, soon.
    public void execute(Runnable task) {
        engine.execute(task);
    }

    /// Takes a number, unless a queue pair of another context here has it and would get its packets.
    ///
    /// @return false if it is taken, or no queue pair may have it
    public boolean claimNumber(int number) {
        return number > 1 && node.numbers().add(number);
    }

    /// The queue pair is gone.
    public void releaseNumber(int number) {
        node.numbers().remove(number);
    }

    /// The counters by name.
    public Map<String, Long> counters() {
        return node.counters().values();
    }

    /// Refuses a path that packets cannot take.
    ///
    /// @param queuePair whose path it is
    public void checkPath(String operation, Object queuePair, @Nullable AddressVector path) {
        Gid gid = path == null ? Gid.NONE : path.destinationGid();
        if (!(gid.address() instanceof Inet4Address)) {
            throw new VerbException(
                    operation,
                    Errno.EINVAL,
                    queuePair + ": the peer has sent the GID " + gid + ", and " + node + " reaches only IPv4 addresses:"
                            + " it has to choose the entry of its GID table that has its IPv4 address, for RoCE v2");
        }
    }

    /// A transport to the destination in `resources`, which [#checkPath] has accepted, and whose host need not be
    /// there.
    public Transport connect(QueuePairResources resources) {
        InetSocketAddress peer =
                new InetSocketAddress(resources.destination().gid().address(), PacketSocket.PORT);
        RoceTransport transport = new RoceTransport(this, resources, memory, peer, onLimit);
        transports.set(QueuePairNumbers.index(resources.number()), transport);
        return transport;
    }

    /// Sends the datagrams of a queue pair.
    public DatagramOutput openDatagrams(int number) {
        return new DatagramPackets(node.socket(), node.mtu().bytes(), number);
    }

    /// Where the datagrams for a host go.
    public static InetSocketAddress datagramAddress(Inet4Address host) {
        return new InetSocketAddress(host, PacketSocket.PORT);
    }

    IncomingDatagram.@Nullable Target findDatagramTarget(int number) {
        return datagramTargets.apply(number);
    }

    RoceNode node() {
        return node;
    }

    @Nullable
    RoceTransport find(int number) {
        RoceTransport transport = transports.get(QueuePairNumbers.index(number));
        return transport == null || transport.number() != number ? null : transport;
    }

    void remove(RoceTransport transport) {
        transports.compareAndSet(QueuePairNumbers.index(transport.number()), transport, null);
    }

    // ---- Which thread receives ----

    /// Receives; a thread that polls a completion queue and has found nothing.
    ///
    /// @param sleeps whether the queue is armed, and the thread is likely to sleep next
    public void poll(boolean sleeps) {
        if (!sleeps) {
            lastPoll = System.nanoTime();
            armed = false;
        }
        node.receive(POLL_PACKETS);
    }

    /// A completion queue was armed: what arrives must wake up the thread that waits for it.
    public void armed() {
        armed = true;
        if (left) {
            engine.wakeup();
        }
    }

    private boolean isAttended() {
        return !armed && System.nanoTime() - lastPoll < ATTENDED_NANOS;
    }

    @Override
    public void ready(SelectionKey ready) {
        boolean attended = isAttended();
        if (attended || !node.receive(ENGINE_PACKETS)) {
            leftUntil = System.nanoTime() + (attended ? 0 : BUSY_NANOS);
            left = true;
            ready.interestOps(0);
        }
    }

    /// Time has passed; the engine.
    ///
    /// @return nanoseconds until the next call is due
    public long onTime() {
        return Math.min(watchAgain(), node.connections().onTime());
    }

    /// Watches the socket again if no thread polls.
    private long watchAgain() {
        if (!left) {
            return Long.MAX_VALUE;
        }
        long wait = isAttended() ? ATTENDED_NANOS : leftUntil - System.nanoTime();
        if (wait > 0) {
            return wait;
        }
        left = false;
        try {
            key.interestOps(SelectionKey.OP_READ);
        } catch (CancelledKeyException e) {
            // The context is being closed.
        }
        return 0;
    }

    /// No longer receives: the engine closes what it watches, and the socket is that of all contexts here.
    public void closing() {
        key.cancel();
    }

    /// Gives the socket back, which the engine must have let go before, or it would stay open for a moment.
    @Override
    public void close() throws IOException {
        node.release(this);
    }
}
