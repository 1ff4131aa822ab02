package io.rdmacomm.soft.roce;

import io.rdmacomm.soft.roce.cm.CommunicationManager;
import io.rdmacomm.soft.roce.wire.Packet;
import io.rdmacomm.soft.roce.wire.PacketOpcode;
import io.rdmacomm.soft.transport.IncomingDatagram;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.PathMtu;
import io.rdmacomm.verbs.VerbException;
import java.io.IOException;
import java.net.BindException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The socket of an address of this host, for all queue pairs of this process there. A polling thread or an engine
/// receives for all of them; one thread at a time.
public final class RoceNode implements PacketReader.Receiver {
    /// The nodes by address. Also the lock for their numbers of users.
    private static final Map<InetAddress, RoceNode> NODES = new HashMap<>();

    private final InetAddress local;
    private final PathMtu mtu;
    private final PacketSocket socket;
    private final RoceCounters counters = new RoceCounters();
    private final Set<Integer> numbers = ConcurrentHashMap.newKeySet();
    /// The contexts of this process here; replaced as a whole.
    private volatile RocePort[] ports = {};
    private final PacketReader reader;
    private final MulticastSockets multicast;
    private final IncomingDatagrams datagrams;
    private final ManagerQueuePair manager;
    /// The queue pair whose lock the receiving thread holds.
    private @Nullable RoceTransport entered;

    private RoceNode(InetAddress local, boolean bursts) throws IOException {
        this.local = local;
        this.mtu = InterfaceMtu.of(local);
        this.socket = new PacketSocket(local, bursts, counters);
        boolean complete = false;
        try {
            PacketInput input = socket.input();
            this.reader = new PacketReader(input, socket.address(), counters, this);
            this.multicast = new MulticastSockets(local);
            this.manager = new ManagerQueuePair(socket, local, mtu, this::wakeup);
            this.datagrams = new IncomingDatagrams(input.memory(), socket.address());
            complete = true;
        } finally {
            if (!complete) {
                socket.close();
            }
        }
    }

    /// The node of an address, for one more user.
    ///
    /// @param bursts whether packets leave in batches if this program has native access; the first user decides
    /// @throws VerbException EINVAL if it is not an IPv4 address, EADDRINUSE if the port is taken, EADDRNOTAVAIL if
    ///         this host has no such address; the message says what to do
    /// @throws IOException if there is no socket left
    static RoceNode acquire(InetAddress address, boolean bursts, RocePort port) throws IOException {
        if (!(address instanceof Inet4Address)) {
            throw OpenFailure.of(
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
                    ? OpenFailure.of(
                            Errno.EADDRINUSE,
                            "UDP port " + PacketSocket.PORT + " of " + host
                                    + " is taken, by another process with RoCE at this"
                                    + " address or by the kernel's rdma_rxe; give this device an address of its own"
                                    + " (ip addr add ADDRESS dev INTERFACE), or unload rdma_rxe (rmmod rdma_rxe)",
                            e)
                    : OpenFailure.of(
                            Errno.EADDRNOTAVAIL,
                            "this host does not have the address " + host + "; ip addr lists those that it has",
                            e);
        }
    }

    /// A user has ended; the last one closes the socket.
    void release(RocePort port) throws IOException {
        synchronized (NODES) {
            ports = Arrays.stream(ports).filter(each -> !each.equals(port)).toArray(RocePort[]::new);
            if (ports.length == 0) {
                NODES.remove(local);
                try (socket) {
                    reader.close();
                }
            }
        }
    }

    /// The socket that packets leave through.
    PacketSocket socket() {
        return socket;
    }

    /// Reads the packets that arrive.
    PacketReader reader() {
        return reader;
    }

    /// Opens sockets for multicast groups.
    MulticastSockets multicast() {
        return multicast;
    }

    /// The largest path MTU.
    PathMtu mtu() {
        return mtu;
    }

    /// Makes connections by address.
    CommunicationManager connections() {
        return manager.manager();
    }

    /// Makes all engines check the time: one context may have ended.
    private void wakeup() {
        for (RocePort port : ports) {
            port.wakeup();
        }
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

    /// Passes a packet to its queue pair, which answers at the end of this round.
    @Override
    public void arrived(Packet packet, PacketInput from) {
        if (PacketOpcode.transport(packet.opcode) == PacketOpcode.DATAGRAM) {
            paused();
            deliverDatagram(packet, from);
            return;
        }
        RoceTransport to = entered;
        if (to == null || to.number() != packet.destination) {
            paused();
            to = find(packet.destination);
            if (to == null || !to.enter()) {
                counters.strays.getAndIncrement();
                return;
            }
            entered = to;
        }
        if (to.isPeer(from.host())) {
            to.receive(packet, from.memory());
        } else {
            counters.strays.getAndIncrement();
        }
    }

    private void deliverDatagram(Packet packet, PacketInput from) {
        if (packet.destination == ManagerQueuePair.NUMBER) {
            if (!manager.arrived(packet, from)) {
                counters.strays.getAndIncrement();
            }
            return;
        }
        IncomingDatagram.Target to = findDatagramTarget(packet.destination);
        if (to == null) {
            counters.strays.getAndIncrement();
        } else {
            datagrams.deliver(packet, from.host(), to);
        }
    }

    /// The queue pair of the last packets answers.
    @Override
    public void paused() {
        RoceTransport to = entered;
        if (to != null) {
            entered = null;
            to.leave();
        }
    }

    @Override
    public String toString() {
        return "RoCE at " + local.getHostAddress();
    }
}
