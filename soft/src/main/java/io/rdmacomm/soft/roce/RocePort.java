package io.rdmacomm.soft.roce;

import io.rdmacomm.soft.mapped.ControlLayout;
import io.rdmacomm.soft.mapped.QueuePairNumbers;
import io.rdmacomm.soft.memory.LocalMemory;
import io.rdmacomm.soft.roce.cm.CommunicationManager;
import io.rdmacomm.soft.transport.DatagramOutput;
import io.rdmacomm.soft.transport.Engine;
import io.rdmacomm.soft.transport.GroupSocket;
import io.rdmacomm.soft.transport.IncomingDatagram;
import io.rdmacomm.soft.transport.QueuePairResources;
import io.rdmacomm.soft.transport.Transport;
import io.rdmacomm.verbs.AddressVector;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.PathMtu;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.VerbException;
import java.io.Closeable;
import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.IntConsumer;
import java.util.function.IntFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The RoCE side of a context: its queue pairs, and which of its threads receive. Threads that poll do, and the engine
/// when none has polled for a moment or one of them is about to sleep.
public final class RocePort implements AutoCloseable {
    /// The longest message (IBTA 9.7.6).
    public static final long MOST_BYTES = 1L << 31;
    /// How many multicast groups can have queue pairs of a context: each has a socket.
    public static final int MOST_GROUPS = 256;
    /// How many queue pairs of a context a multicast group can have.
    public static final int MOST_MEMBERS = 64;

    /// A context that was polled within this time is left to the thread that polls.
    static final long ATTENDED_NANOS = 2_000_000;

    private static final int POLL_PACKETS = 16;
    private final LocalMemory memory;
    private final Engine engine;
    private final IntConsumer onLimit;
    private final IntFunction<IncomingDatagram.@Nullable Target> datagramTargets;
    private final RoceNode node;
    private final AtomicReferenceArray<@Nullable RoceTransport> transports =
            new AtomicReferenceArray<>(ControlLayout.QUEUE_PAIR_COUNT);
    private volatile long lastPoll = System.nanoTime() - ATTENDED_NANOS;
    private volatile boolean armed;
    private final MulticastGroups groups;
    /// That of the node, and those of groups; replaced as a whole.
    private volatile SocketWatch[] watches = {};

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
        this.groups = new MulticastGroups(this, node.multicast());
        boolean complete = false;
        try {
            watch(node.reader());
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
        return number > 1 && number != SendBatch.MULTICAST && node.numbers().add(number);
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

    /// Where the datagrams for a host or a multicast group go.
    public static InetSocketAddress datagramAddress(Inet4Address host) {
        return new InetSocketAddress(host, PacketSocket.PORT);
    }

    // ---- Multicast ----

    /// Sends datagrams to multicast groups.
    ///
    /// @param hopLimit that of the packets; 0 is taken as 1
    /// @throws IOException if there is no socket left
    public GroupSocket openGroupSocket(int hopLimit) throws IOException {
        return node.multicast().send(Math.max(1, hopLimit));
    }

    /// Joins a multicast group.
    ///
    /// @return what leaves it when it is closed
    /// @throws IOException if there is no socket left, or the interface cannot join it
    public Closeable join(Inet4Address group) throws IOException {
        return node.multicast().join(group);
    }

    /// Attaches a queue pair for datagrams to a multicast group, unless it is attached.
    ///
    /// @throws VerbException ENOMEM if there is no room for more
    /// @throws IOException if there is no socket left, or the interface cannot join the group
    public void attach(String operation, Inet4Address group, IncomingDatagram.Target queuePair) throws IOException {
        groups.attach(operation, group, queuePair);
    }

    /// Ends [#attach]; a datagram that is being delivered may still reach the queue pair.
    public void detach(Inet4Address group, IncomingDatagram.Target queuePair) throws IOException {
        groups.detach(group, queuePair);
    }

    // ---- Queue pairs ----

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

    /// Receives from a socket, too.
    void watch(PacketReader reader) throws ClosedChannelException {
        SocketWatch added = new SocketWatch(this, engine, reader);
        synchronized (this) {
            watches = Stream.concat(Arrays.stream(watches), Stream.of(added)).toArray(SocketWatch[]::new);
        }
    }

    /// No longer receives from a socket, which the engine lets go soon.
    void unwatch(PacketReader reader) {
        synchronized (this) {
            Arrays.stream(watches).filter(each -> each.reader().equals(reader)).forEach(SocketWatch::stop);
            watches = Arrays.stream(watches)
                    .filter(each -> !each.reader().equals(reader))
                    .toArray(SocketWatch[]::new);
        }
        engine.wakeup();
    }

    /// Receives; a thread that polls a completion queue and has found nothing.
    ///
    /// @param sleeps whether the queue is armed, and the thread is likely to sleep next
    public void poll(boolean sleeps) {
        if (!sleeps) {
            lastPoll = System.nanoTime();
            armed = false;
        }
        for (SocketWatch each : watches) {
            each.reader().receive(POLL_PACKETS);
        }
    }

    /// A completion queue was armed: what arrives must wake up the thread that waits for it.
    public void armed() {
        armed = true;
        for (SocketWatch each : watches) {
            if (each.isLeft()) {
                engine.wakeup();
            }
        }
    }

    /// Whether a thread polls.
    boolean isAttended() {
        return !armed && System.nanoTime() - lastPoll < ATTENDED_NANOS;
    }

    /// Time has passed; the engine.
    ///
    /// @return nanoseconds until the next call is due
    public long onTime() {
        long next = node.connections().onTime();
        for (SocketWatch each : watches) {
            next = Math.min(next, each.onTime());
        }
        return next;
    }

    /// No longer receives: the engine closes what it watches, and the socket is that of all contexts here.
    public void closing() {
        for (SocketWatch each : watches) {
            each.stop();
        }
    }

    /// Gives the socket back, which the engine must have let go before, or it would stay open for a moment.
    @Override
    public void close() throws IOException {
        try (groups) {
            node.release(this);
        }
    }
}
