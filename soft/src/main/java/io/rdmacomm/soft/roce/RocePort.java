package io.rdmacomm.soft.roce;

import io.rdmacomm.soft.mapped.ControlLayout;
import io.rdmacomm.soft.mapped.QueuePairNumbers;
import io.rdmacomm.soft.memory.LocalMemory;
import io.rdmacomm.soft.transport.Engine;
import io.rdmacomm.soft.transport.QueuePairResources;
import io.rdmacomm.soft.transport.Transport;
import io.rdmacomm.verbs.AddressVector;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.VerbException;
import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.nio.channels.SelectionKey;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.IntConsumer;
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
    /// Between the interface's MTU and the payload: IP, UDP and the headers of RoCE, as rxe reserves them.
    private static final int HEADERS = 80;

    private static final int[] MTUS = {4096, 2048, 1024, 512, 256};

    private final LocalMemory memory;
    private final Engine engine;
    private final IntConsumer onLimit;
    private final RoceNode node;
    private final int mtu;
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
    /// @param onLimit called with the number of a shared receive queue that fell below its limit
    /// @throws VerbException if the address cannot be used; the message says why, and what to do
    /// @throws IOException if there is no socket left
    public RocePort(InetAddress address, LocalMemory memory, Engine engine, IntConsumer onLimit) throws IOException {
        this.memory = memory;
        this.engine = engine;
        this.onLimit = onLimit;
        this.mtu = mtu(address);
        this.node = RoceNode.acquire(address, this);
        boolean complete = false;
        try {
            this.key = engine.register(node.channel(), SelectionKey.OP_READ, this);
            complete = true;
        } finally {
            if (!complete) {
                node.release(this);
            }
        }
    }

    /// The largest payload that fits into the packets of the interface.
    private static int mtu(InetAddress address) throws IOException {
        NetworkInterface network = NetworkInterface.getByInetAddress(address);
        // On loopback every address of 127.0.0.0/8 is this host.
        int bytes = network == null ? Integer.MAX_VALUE : network.getMTU();
        for (int each : MTUS) {
            if (each <= bytes - HEADERS) {
                return each;
            }
        }
        throw RoceNode.unusable(
                Errno.EINVAL,
                "the interface of " + address.getHostAddress() + " has an MTU of " + bytes + ", and RoCE needs "
                        + (MTUS[MTUS.length - 1] + HEADERS) + " at least",
                null);
    }

    /// The most bytes of payload in a packet.
    public int mtu() {
        return mtu;
    }

    /// Whether another queue pair has this number, which would get its packets, or no queue pair may have it.
    public boolean isTaken(int number) {
        return number <= 1 || node.isTaken(number);
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
                new InetSocketAddress(resources.destination().gid().address(), RoceNode.PORT);
        RoceTransport transport = new RoceTransport(this, resources, memory, peer, onLimit);
        transports.set(QueuePairNumbers.index(resources.number()), transport);
        return transport;
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

    /// Watches the socket again if no thread polls; the engine.
    ///
    /// @return nanoseconds until the next call is due
    public long onTime() {
        if (!left) {
            return Long.MAX_VALUE;
        }
        long wait = isAttended() ? ATTENDED_NANOS : leftUntil - System.nanoTime();
        if (wait > 0) {
            return wait;
        }
        left = false;
        if (key.isValid()) {
            key.interestOps(SelectionKey.OP_READ);
        }
        return 0;
    }

    @Override
    public void close() throws IOException {
        key.cancel();
        node.release(this);
    }
}
