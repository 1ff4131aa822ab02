package io.rdmacomm.soft.roce;

import io.rdmacomm.soft.roce.cm.CommunicationManager;
import io.rdmacomm.soft.roce.linux.SegmentBatch;
import io.rdmacomm.soft.roce.linux.SegmentSocket;
import io.rdmacomm.soft.roce.mad.ManagementDatagram;
import io.rdmacomm.soft.roce.wire.IdentificationCheck;
import io.rdmacomm.soft.roce.wire.InvariantCrc;
import io.rdmacomm.soft.roce.wire.Packet;
import io.rdmacomm.soft.roce.wire.PacketFault;
import io.rdmacomm.soft.roce.wire.PacketOpcode;
import io.rdmacomm.soft.transport.IncomingDatagram;
import io.rdmacomm.soft.transport.OutgoingDatagram;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.PathMtu;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.service.SafeLogger;
import io.rdmacomm.verbs.service.SystemSockets;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.BindException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;
import jdk.net.ExtendedSocketOptions;
import org.jspecify.annotations.Nullable;

/// The socket of an address of this host, for all queue pairs of this process there. A thread that polls, or an engine,
/// receives for all of them; one thread at a time.
///
/// The socket is not connected and does not fragment: then Linux sends packets whose IP header has the identification
/// 0, as their invariant CRC says.
public final class RoceNode {
    /// The UDP port of RoCE v2 (IBTA A17.9.2).
    static final int PORT = 4791;

    private static final SafeLogger LOGGER = SafeLogger.of(RoceNode.class);
    private static final int BUFFER_BYTES = 4 << 20;
    private static final int LONGEST_PAYLOAD = 4096;
    /// No peer.
    static final InetSocketAddress NOWHERE = new InetSocketAddress(0);

    /// By address; also the lock of the number of users of each.
    private static final Map<InetAddress, RoceNode> NODES = new HashMap<>();

    /// The number of the queue pair that the managers of all hosts have, and its queue key (IBTA 13.3).
    private static final int MANAGER = 1;

    private static final int MANAGER_KEY = 0x8001_0000;

    private final InetAddress local;
    private final int address;
    private final PathMtu mtu;
    private final DatagramChannel channel;
    /// Sends several packets at once; null without native access.
    private final @Nullable SegmentSocket segments;
    private final RoceCounters counters = new RoceCounters();
    private final Set<Integer> numbers = ConcurrentHashMap.newKeySet();
    /// The contexts of this process here; replaced as a whole.
    private volatile RocePort[] ports = {};
    private final ReentrantLock receiving = new ReentrantLock();
    private final ByteBuffer input = ByteBuffer.allocateDirect(LONGEST_PAYLOAD + Packet.MOST_OVERHEAD + 1);
    private final MemorySegment inputSegment = MemorySegment.ofBuffer(input);
    private final InvariantCrc crc = new InvariantCrc();
    private final Packet packet = new Packet();
    private final IncomingDatagrams datagrams;
    private final CommunicationManager connections;
    private final DatagramPackets managerOutput;
    private final OutgoingDatagram managerDatagram = new OutgoingDatagram();
    private InetSocketAddress lastSender = NOWHERE;
    private int lastSenderBits;
    /// The queue pair whose lock the thread that receives holds.
    private @Nullable RoceTransport entered;

    private RoceNode(InetAddress local, boolean bursts) throws IOException {
        this.local = local;
        this.address = bits(local);
        this.mtu = InterfaceMtu.of(local);
        this.managerOutput = new DatagramPackets(this, ManagementDatagram.BYTES, MANAGER);
        this.connections = new CommunicationManager(Gid.of(local), mtu, this::sendManagement, this::wakeup);
        this.datagrams = new IncomingDatagrams(inputSegment, address);
        this.channel = SystemSockets.openDatagramSocket(StandardProtocolFamily.INET);
        boolean complete = false;
        try {
            channel.configureBlocking(false);
            channel.setOption(ExtendedSocketOptions.IP_DONTFRAGMENT, true);
            channel.setOption(StandardSocketOptions.SO_RCVBUF, BUFFER_BYTES);
            channel.setOption(StandardSocketOptions.SO_SNDBUF, BUFFER_BYTES);
            channel.bind(new InetSocketAddress(local, PORT));
            this.segments = bursts ? SegmentSocket.open(local) : null;
            complete = true;
        } finally {
            if (!complete) {
                channel.close();
            }
        }
    }

    /// The node of an address, for one more user.
    ///
    /// @param bursts whether packets leave together if this program has native access; the first user decides
    /// @throws VerbException EINVAL if it is no IPv4 address, EADDRINUSE if the port is taken, EADDRNOTAVAIL if
    /// this host has no such address; the message says what to do
    /// @throws IOException if there is no socket left
    static RoceNode acquire(InetAddress address, boolean bursts, RocePort port) throws IOException {
        if (!(address instanceof Inet4Address)) {
            throw unusable(
                    Errno.EINVAL,
                    address.getHostAddress() + " is not an IPv4 address: RoCE senders leave out the UDP checksum, and"
                            + " Linux drops such packets over IPv6",
                    null);
        }
        synchronized (NODES) {
            RoceNode node = NODES.get(address);
            if (node == null) {
                node = open(address, bursts);
                NODES.put(address, node);
            }
            node.ports =
                    Stream.concat(Arrays.stream(node.ports), Stream.of(port)).toArray(RocePort[]::new);
            return node;
        }
    }

    private static RoceNode open(InetAddress address, boolean bursts) throws IOException {
        try {
            return new RoceNode(address, bursts);
        } catch (BindException e) {
            String host = address.getHostAddress();
            throw String.valueOf(e.getMessage()).contains("in use")
                    ? unusable(
                            Errno.EADDRINUSE,
                            "UDP port " + PORT + " of " + host + " is taken, by another process with RoCE at this"
                                    + " address or by the kernel's rdma_rxe; give this device an address of its own"
                                    + " (ip addr add ADDRESS dev INTERFACE), or unload rdma_rxe (rmmod rdma_rxe)",
                            e)
                    : unusable(
                            Errno.EADDRNOTAVAIL,
                            "this host does not have the address " + host + "; ip addr lists those that it has",
                            e);
        }
    }

    /// The device cannot be opened.
    static VerbException unusable(Errno errno, String why, @Nullable Throwable cause) {
        return new VerbException("open device with transport=roce", errno, why, cause);
    }

    /// A user has ended; the last one closes the socket.
    void release(RocePort port) throws IOException {
        synchronized (NODES) {
            ports = Arrays.stream(ports).filter(each -> !each.equals(port)).toArray(RocePort[]::new);
            if (ports.length == 0) {
                NODES.remove(local);
                channel.close();
                if (segments != null) {
                    segments.close();
                }
            }
        }
    }

    /// An IPv4 address as a number.
    static int bits(InetAddress address) {
        return ByteBuffer.wrap(address.getAddress()).getInt();
    }

    /// The IPv4 address.
    int address() {
        return address;
    }

    /// The largest path MTU.
    PathMtu mtu() {
        return mtu;
    }

    /// Makes connections by address.
    CommunicationManager connections() {
        return connections;
    }

    /// Under the lock of the manager.
    private void sendManagement(InetAddress to, ByteBuffer datagram) {
        managerDatagram.destination = MANAGER;
        managerDatagram.queueKey = MANAGER_KEY;
        managerDatagram.bytes = ManagementDatagram.BYTES;
        MemorySegment.copy(
                MemorySegment.ofBuffer(datagram),
                0,
                managerOutput.memory(),
                managerOutput.payloadAt(managerDatagram),
                ManagementDatagram.BYTES);
        managerOutput.send(managerDatagram, new InetSocketAddress(to, PORT));
    }

    /// Has all engines look at the time: that of one context may have ended.
    private void wakeup() {
        for (RocePort port : ports) {
            port.wakeup();
        }
    }

    DatagramChannel channel() {
        return channel;
    }

    RoceCounters counters() {
        return counters;
    }

    /// The numbers of the queue pairs of all contexts of this process here.
    Set<Integer> numbers() {
        return numbers;
    }

    private @Nullable RoceTransport find(int number) {
        for (RocePort port : ports) {
            RoceTransport transport = port.find(number);
            if (transport != null) {
                return transport;
            }
        }
        return null;
    }

    private IncomingDatagram.@Nullable Target findDatagramTarget(int number) {
        for (RocePort port : ports) {
            IncomingDatagram.Target target = port.findDatagramTarget(number);
            if (target != null) {
                return target;
            }
        }
        return null;
    }

    /// Sends what remains in the buffer.
    ///
    /// @return false if the socket has no room
    boolean send(ByteBuffer packetBytes, InetSocketAddress to) {
        try {
            if (channel.send(packetBytes, to) == 0) {
                return false;
            }
            counters.sent.increment();
        } catch (IOException e) {
            // As if it were lost on the way: it is repeated until the retries are used up.
            counters.unsent.increment();
            LOGGER.log(System.Logger.Level.DEBUG, () -> "a packet to " + to + " was not sent", e);
        }
        return true;
    }

    /// An empty batch of packets; null if packets leave one by one.
    @Nullable
    SegmentBatch takeBatch() {
        SegmentSocket socket = segments;
        return socket == null ? null : socket.take();
    }

    void giveBack(SegmentBatch batch) {
        SegmentSocket socket = segments;
        if (socket != null) {
            socket.giveBack(batch);
        }
    }

    /// The UDP port that the packets of batches come from.
    int batchPort() {
        return segments == null ? PORT : segments.port();
    }

    /// Sends all packets of a batch.
    ///
    /// @param to IPv4 address
    /// @return false if the socket has no room
    boolean send(SegmentBatch batch, int to) {
        int errno = batch.send(to);
        if (errno == 0) {
            counters.sent.add(batch.count());
        } else if (errno > 0) {
            // As if they were lost on the way.
            counters.unsent.add(batch.count());
        }
        return errno >= 0;
    }

    /// Receives packets and has their queue pairs answer, unless another thread does. Without the send lock of any
    /// queue pair.
    ///
    /// @param most how many packets to receive at most
    /// @return false if another thread does
    boolean receive(int most) {
        if (!receiving.tryLock()) {
            return false;
        }
        int count = 0;
        try {
            while (count < most && receiveOne()) {
                count++;
            }
        } catch (IOException e) {
            LOGGER.log(System.Logger.Level.DEBUG, () -> "cannot receive at " + local, e);
        } finally {
            try {
                leave();
            } finally {
                receiving.unlock();
            }
        }
        return true;
    }

    private boolean receiveOne() throws IOException {
        input.clear();
        if (!(channel.receive(input) instanceof InetSocketAddress from)) {
            return false;
        }
        counters.received.increment();
        int bytes = input.position();
        input.clear();
        PacketFault fault = check(from, bytes);
        switch (fault) {
            case NONE -> deliver(from);
            case CHECKSUM -> counters.wrongChecksums.increment();
            case TOO_SHORT, VERSION, OPCODE, PARTITION_KEY, PADDING, PAYLOAD -> counters.malformed.increment();
        }
        return true;
    }

    private PacketFault check(InetSocketAddress from, int bytes) {
        PacketFault fault = packet.decode(input, 0, bytes);
        if (fault != PacketFault.NONE) {
            return fault;
        }
        int body = bytes - Packet.CHECKSUM_BYTES;
        int found = input.getInt(body);
        int expected = crc.of(input, 0, body, senderBits(from), from.getPort(), address, PORT);
        boolean right = found == expected || IdentificationCheck.explains(found, expected, body);
        return right ? PacketFault.NONE : PacketFault.CHECKSUM;
    }

    private int senderBits(InetSocketAddress sender) {
        if (!sender.equals(lastSender)) {
            lastSender = sender;
            lastSenderBits = bits(sender.getAddress());
        }
        return lastSenderBits;
    }

    private void deliver(InetSocketAddress from) {
        if (PacketOpcode.transport(packet.opcode) == PacketOpcode.DATAGRAM) {
            leave();
            deliverDatagram(from);
            return;
        }
        RoceTransport to = entered;
        if (to == null || to.number() != packet.destination) {
            leave();
            to = find(packet.destination);
            if (to == null || !to.enter()) {
                counters.strays.increment();
                return;
            }
            entered = to;
        }
        if (to.isPeer(from)) {
            to.receive(packet, inputSegment);
        } else {
            counters.strays.increment();
        }
    }

    private void deliverDatagram(InetSocketAddress from) {
        if (packet.destination == MANAGER) {
            boolean forIt = packet.queueKey == MANAGER_KEY && packet.payloadBytes == ManagementDatagram.BYTES;
            if (!forIt || !connections.arrived(from.getAddress(), input.slice(packet.payloadAt, packet.payloadBytes))) {
                counters.strays.increment();
            }
            return;
        }
        IncomingDatagram.Target to = findDatagramTarget(packet.destination);
        if (to == null) {
            counters.strays.increment();
        } else {
            datagrams.deliver(packet, senderBits(from), to);
        }
    }

    private void leave() {
        RoceTransport from = entered;
        if (from != null) {
            entered = null;
            from.leave();
        }
    }

    @Override
    public String toString() {
        return "RoCE at " + local.getHostAddress();
    }
}
