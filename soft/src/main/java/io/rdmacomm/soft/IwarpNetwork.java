package io.rdmacomm.soft;

import io.rdmacomm.soft.cm.HostContexts;
import io.rdmacomm.soft.cm.SoftConnectionManager;
import io.rdmacomm.soft.datagram.DatagramPort;
import io.rdmacomm.soft.datagram.UdpOutput;
import io.rdmacomm.soft.iwarp.PeerHandshake;
import io.rdmacomm.soft.iwarp.QueuePairAddress;
import io.rdmacomm.soft.mapped.CompletionRing;
import io.rdmacomm.soft.mapped.ControlFile;
import io.rdmacomm.soft.mapped.ShmDirectory;
import io.rdmacomm.soft.memory.LocalMemory;
import io.rdmacomm.soft.shm.SharedMemory;
import io.rdmacomm.soft.tcp.CallListener;
import io.rdmacomm.soft.tcp.LinkCounters;
import io.rdmacomm.soft.tcp.LinkGroup;
import io.rdmacomm.soft.tcp.LinkTraffic;
import io.rdmacomm.soft.tcp.TcpArrivals;
import io.rdmacomm.soft.tcp.TcpConnectionSetup;
import io.rdmacomm.soft.tcp.TcpNode;
import io.rdmacomm.soft.transport.Arrivals;
import io.rdmacomm.soft.transport.ConnectionSetup;
import io.rdmacomm.soft.transport.DatagramAddress;
import io.rdmacomm.soft.transport.DatagramOutput;
import io.rdmacomm.soft.transport.Destination;
import io.rdmacomm.soft.transport.Engine;
import io.rdmacomm.soft.transport.QueuePairResources;
import io.rdmacomm.soft.transport.Transport;
import io.rdmacomm.verbs.AddressVector;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.spi.ConnectionManagerDriver;
import io.rdmacomm.verbs.spi.PortValues;
import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/// Shared memory for peers on this host, and iWARP over TCP for all others; datagrams over UDP.
final class IwarpNetwork implements Network, HostContexts {
    private final DeviceSettings settings;
    private final ContextObjects objects;
    private final Engine engine;
    private final int lid;
    private final UUID identity;
    private final SharedMemory sharedMemory;
    private final TcpNode tcp;
    private @Nullable DatagramPort datagramPort;

    /// Begins to accept calls of peers.
    ///
    /// @throws BindException if another program has the port of this LID
    /// @throws IOException if there is no socket left
    IwarpNetwork(
            DeviceSettings settings,
            ShmDirectory directory,
            ControlFile control,
            LocalMemory memory,
            Engine engine,
            ContextObjects objects)
            throws IOException {
        this.settings = settings;
        this.objects = objects;
        this.engine = engine;
        this.lid = directory.lid();
        this.identity = control.identity();
        CallListener listener = CallListener.open(settings.tcp().address(), lid);
        boolean complete = false;
        try {
            if (settings.sharedMemory()) {
                control.share();
            }
            this.sharedMemory = new SharedMemory(directory, settings.gid(), control, memory, engine, objects);
            this.tcp = new TcpNode(
                    settings.tcp(), settings.gid(), lid, memory, engine, listener, this::setup, objects::onLimit);
            complete = true;
        } finally {
            if (!complete && listener != null) {
                listener.close();
            }
        }
    }

    private @Nullable TcpConnectionSetup setup(int number) {
        return objects.setup(number) instanceof TcpConnectionSetup setup ? setup : null;
    }

    @Override
    public boolean supports(Capability capability) {
        return SoftLimits.supports(capability);
    }

    @Override
    public void describe(PortValues values) {
        values.lid = lid;
    }

    /// Connects over shared memory if the peer is on this host and the settings allow it. A context always reaches
    /// itself.
    @Override
    public @Nullable Transport connect(QueuePairResources queuePair) {
        Destination destination = queuePair.destination();
        boolean allowed = settings.sharedMemory()
                || (destination.lid() == lid && destination.gid().equals(settings.gid()));
        return allowed ? sharedMemory.connect(queuePair) : null;
    }

    @Override
    public ConnectionSetup setup(
            QueuePairResources queuePair, ConnectionSetup.Owner owner, Arrivals sends, Arrivals receives) {
        return new TcpConnectionSetup(tcp, queuePair, owner, (TcpArrivals) sends, (TcpArrivals) receives);
    }

    @Override
    public Arrivals arrivals(CompletionRing completions) {
        return new TcpArrivals(tcp, completions);
    }

    @Override
    public DatagramOutput openDatagrams(int number) throws IOException {
        openDatagramPort();
        return new UdpOutput(settings.tcp().address(), lid, SoftLimits.MTU.bytes(), number);
    }

    private synchronized void openDatagramPort() throws IOException {
        if (datagramPort == null) {
            datagramPort = new DatagramPort(
                    settings.tcp().address(),
                    lid,
                    settings.gid(),
                    SoftLimits.MTU.bytes(),
                    engine,
                    objects::datagramTarget);
        }
    }

    @Override
    public DatagramAddress datagramAddress(AddressVector vector, int domain) {
        if (!vector.isGlobal() || vector.destinationLid() == 0) {
            throw SoftAddressHandle.refused("a software device is found by its GID and its LID, not by GID "
                    + vector.destinationGid() + " and LID " + vector.destinationLid());
        }
        InetSocketAddress socket = new InetSocketAddress(vector.destinationGid().address(), vector.destinationLid());
        return new DatagramAddress(socket, /* own= */ null, domain, vector.trafficClass(), vector.hopLimit());
    }

    @Override
    public ConnectionManagerDriver openConnectionManager() {
        return new SoftConnectionManager(settings.name(), settings.tcp(), settings.gid(), lid, this, this::setup);
    }

    @Override
    public Arrivals.GroupPlace groupPlace() {
        return new LinkGroup();
    }

    @Override
    public UUID identity() {
        return settings.sharedMemory() ? identity : PeerHandshake.NO_HOST;
    }

    @Override
    public boolean reaches(QueuePairAddress peer, UUID itsIdentity) {
        return settings.sharedMemory() && sharedMemory.reaches(peer.gid(), peer.lid(), itsIdentity);
    }

    @Override
    public long onTime() {
        return Math.min(sharedMemory.onTime(), tcp.onTime());
    }

    @Override
    public Map<String, Long> counters() {
        LinkTraffic traffic = tcp.traffic();
        LinkCounters links = tcp.counters();
        return Map.ofEntries(
                Map.entry("staged_copies", sharedMemory.stagedCopies()),
                Map.entry("staged_copies_for_peers", sharedMemory.stagedCopiesForPeers()),
                Map.entry("tcp_links", links.links()),
                Map.entry("tcp_links_ended_by_peers", links.endedByPeers()),
                Map.entry("tcp_violations", links.violations()),
                Map.entry("tcp_callers_turned_away", links.turnedAway()),
                Map.entry("tcp_accept_pauses", links.pauses()),
                Map.entry("tcp_bytes_sent", traffic.bytesSent()),
                Map.entry("tcp_bytes_received", traffic.bytesReceived()),
                Map.entry("tcp_frames_sent", traffic.framesSent()),
                Map.entry("tcp_frames_received", traffic.framesReceived()));
    }

    @Override
    public void awaitCopiesForPeers() {
        sharedMemory.awaitCopiesForPeers();
    }

    @Override
    public void regionGone() {
        sharedMemory.regionGone();
    }

    @Override
    public void close() throws IOException {
        closeDatagramPort();
        tcp.close();
        sharedMemory.close();
    }

    private synchronized void closeDatagramPort() throws IOException {
        if (datagramPort != null) {
            datagramPort.close();
        }
    }
}
