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
import java.util.Map;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.IntConsumer;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/// The RoCE side of a context: its queue pairs, its multicast groups, and the sockets that it receives from.
public final class RocePort implements AutoCloseable {
    /// The most multicast groups with queue pairs of a context: each has a socket.
    public static final int MOST_GROUPS = MulticastGroups.MOST;
    /// The most queue pairs of a context in a multicast group.
    public static final int MOST_MEMBERS = MulticastGroups.MOST_MEMBERS;

    private final LocalMemory memory;
    private final Engine engine;
    private final IntConsumer onLimit;
    private final IntFunction<IncomingDatagram.@Nullable Target> datagramTargets;
    private final RoceNode node;
    private final AtomicReferenceArray<@Nullable RoceTransport> transports =
            new AtomicReferenceArray<>(ControlLayout.QUEUE_PAIR_COUNT);
    private final SocketReceivers receivers;
    private final SilenceClock silence;
    private final MulticastGroups groups;

    /// Begins to receive.
    ///
    /// @param bursts whether packets leave in batches, with native access; the first context here decides
    /// @param silenceSeconds how long the peer of an idle queue pair may be silent until the queue pair fails
    /// @param onLimit called with the number of a shared receive queue that fell below its limit
    /// @param datagramTargets the queue pairs for datagrams by number
    /// @throws VerbException if the address cannot be used; the message says why, and what to do
    /// @throws IOException if there is no socket left
    public RocePort(
            InetAddress address,
            boolean bursts,
            int silenceSeconds,
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
        this.receivers = new SocketReceivers(engine);
        this.silence = new SilenceClock(engine, silenceSeconds);
        this.groups = new MulticastGroups(node.multicast(), receivers, node.counters());
        boolean complete = false;
        try {
            receivers.watch(node.reader());
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

    /// Makes the engine call [CommunicationManager#onTime] soon; any thread.
    public void wakeup() {
        engine.wakeup();
    }

    /// Runs `task` on the engine, soon.
    public void execute(Runnable task) {
        engine.execute(task);
    }

    /// Takes a number, unless a queue pair of another context here has it and would get the packets.
    ///
    /// @return false if it is taken, or no queue pair may have it
    public boolean claimNumber(int number) {
        return number > 1 && number != SendBatch.MULTICAST && node.numbers().add(number);
    }

    /// Gives back the number of a queue pair that is gone.
    public void releaseNumber(int number) {
        node.numbers().remove(number);
    }

    /// The counters by name.
    public Map<String, Long> counters() {
        return node.counters().values();
    }

    /// Rejects a path that packets cannot take.
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

    /// A transport to the destination in `resources`, which [#checkPath] has accepted. Its host need not exist.
    public Transport connect(QueuePairResources resources) {
        InetSocketAddress peer =
                new InetSocketAddress(resources.destination().gid().address(), PacketSocket.PORT);
        RoceTransport transport = new RoceTransport(this, resources, memory, peer, onLimit);
        transports.set(QueuePairNumbers.index(resources.number()), transport);
        silence.add(transport);
        return transport;
    }

    /// The peer of a queue pair is known to be ready: it can now be asked for a sign of life, although it has sent
    /// nothing.
    public void reached(int number) {
        RoceTransport transport = find(number);
        if (transport != null) {
            transport.reached();
        }
    }

    /// Sends the datagrams of a queue pair.
    public DatagramOutput openDatagrams(int number) {
        return new DatagramPackets(node.socket(), node.mtu().bytes(), number);
    }

    /// The address to send datagrams for a host or a multicast group to.
    public static InetSocketAddress datagramAddress(Inet4Address host) {
        return new InetSocketAddress(host, PacketSocket.PORT);
    }

    // ---- Multicast ----

    /// Sends datagrams to multicast groups.
    ///
    /// @param hopLimit of the packets; 0 means 1
    /// @throws IOException if there is no socket left
    public GroupSocket openGroupSocket(int hopLimit) throws IOException {
        return node.multicast().send(Math.max(1, hopLimit));
    }

    /// Joins a multicast group.
    ///
    /// @return leaves the group when it is closed
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

    /// Undoes [#attach]; a datagram in delivery may still reach the queue pair.
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
        silence.remove(transport);
        transports.compareAndSet(QueuePairNumbers.index(transport.number()), transport, null);
    }

    // ---- Which thread receives ----

    /// Receives packets, on a thread that has polled a completion queue and found nothing.
    ///
    /// @param sleeps whether the queue is armed, so that the thread is likely to sleep next
    public void poll(boolean sleeps) {
        receivers.poll(sleeps);
    }

    /// A completion queue was armed: incoming packets must wake up the thread that waits for it.
    public void armed() {
        receivers.armed();
    }

    /// Time has passed; the engine.
    ///
    /// @return nanoseconds until the next call is due
    public long onTime() {
        return Math.min(
                silence.onTime(),
                Math.min(receivers.onTime(), node.connections().onTime()));
    }

    /// Stops receiving: the engine closes the sockets that it receives from, but all contexts here share the socket.
    public void closing() {
        receivers.stop();
    }

    /// Gives the socket back. The engine must have released it before, or it would stay open for a moment.
    @Override
    public void close() throws IOException {
        try (groups) {
            node.release(this);
        }
    }
}
