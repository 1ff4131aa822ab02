package io.rdmacomm.soft;

import io.rdmacomm.soft.cm.ib.IbConnectionManager;
import io.rdmacomm.soft.mapped.CompletionRing;
import io.rdmacomm.soft.memory.LocalMemory;
import io.rdmacomm.soft.roce.RoceArrivals;
import io.rdmacomm.soft.roce.RocePort;
import io.rdmacomm.soft.roce.wire.Packet;
import io.rdmacomm.soft.tcp.LinkTerms;
import io.rdmacomm.soft.transport.Arrivals;
import io.rdmacomm.soft.transport.ConnectionSetup;
import io.rdmacomm.soft.transport.DatagramAddress;
import io.rdmacomm.soft.transport.DatagramOutput;
import io.rdmacomm.soft.transport.Engine;
import io.rdmacomm.soft.transport.GroupSocket;
import io.rdmacomm.soft.transport.IncomingDatagram;
import io.rdmacomm.soft.transport.QueuePairResources;
import io.rdmacomm.soft.transport.Transport;
import io.rdmacomm.verbs.AddressVector;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.DeviceLimit;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.spi.ConnectionManagerDriver;
import io.rdmacomm.verbs.spi.DeviceValues;
import io.rdmacomm.verbs.spi.PortValues;
import io.rdmacomm.verbs.spi.QueuePairDriver;
import java.io.IOException;
import java.net.Inet4Address;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// RoCE v2 packets for all peers.
final class RoceNetwork implements Network {
    private final DeviceSettings settings;
    private final RocePort port;

    /// Begins to receive.
    ///
    /// @throws IOException if there is no socket left
    RoceNetwork(DeviceSettings settings, LocalMemory memory, Engine engine, ContextObjects objects) throws IOException {
        this.settings = settings;
        this.port = new RocePort(
                settings.tcp().address(),
                settings.bursts(),
                settings.tcp().silenceSeconds(),
                memory,
                engine,
                objects::onLimit,
                objects::datagramTarget);
    }

    @Override
    public boolean supports(Capability capability) {
        // All connections share a socket, which has one type of service.
        return switch (capability) {
            case UNRELIABLE_CONNECTED, DATAGRAM_SERVICES, MULTICAST -> true;
            case CONNECTION_TYPE_OF_SERVICE -> false;
            default -> SoftLimits.supports(capability);
        };
    }

    @Override
    public void describe(DeviceValues values) {
        Map<DeviceLimit, Long> limits = values.limits;
        limits.put(DeviceLimit.MAX_MULTICAST_GROUPS, (long) RocePort.MOST_GROUPS);
        limits.put(DeviceLimit.MAX_MULTICAST_ATTACH, (long) RocePort.MOST_MEMBERS);
        limits.put(DeviceLimit.MAX_TOTAL_MULTICAST_ATTACH, (long) RocePort.MOST_GROUPS * RocePort.MOST_MEMBERS);
    }

    @Override
    public void describe(PortValues values) {
        values.activeMtu = port.mtu();
        values.maxMessageSize = Packet.MOST_MESSAGE_BYTES;
    }

    @Override
    public void checkPath(String operation, QueuePairDriver queuePair, @Nullable AddressVector path) {
        port.checkPath(operation, queuePair, path);
    }

    @Override
    public boolean claimNumber(int number) {
        return port.claimNumber(number);
    }

    @Override
    public void releaseNumber(int number) {
        port.releaseNumber(number);
    }

    @Override
    public @Nullable Transport connect(QueuePairResources queuePair) {
        return port.connect(queuePair);
    }

    @Override
    public ConnectionSetup setup(
            QueuePairResources queuePair, ConnectionSetup.Owner owner, Arrivals sends, Arrivals receives) {
        return ConnectionSetup.NONE;
    }

    @Override
    public Arrivals arrivals(CompletionRing completions) {
        return new RoceArrivals(port, completions);
    }

    @Override
    public DatagramOutput openDatagrams(int number) {
        return port.openDatagrams(number);
    }

    @Override
    public DatagramAddress datagramAddress(AddressVector vector, int domain) throws IOException {
        if (vector.isGlobal() && vector.destinationGid().address() instanceof Inet4Address host) {
            int hops = vector.hopLimit();
            GroupSocket own = host.isMulticastAddress() ? port.openGroupSocket(hops) : null;
            return new DatagramAddress(RocePort.datagramAddress(host), own, domain, vector.trafficClass(), hops);
        }
        throw SoftAddressHandle.refused(
                "RoCE finds a port by a GID with an IPv4 address, not by GID " + vector.destinationGid());
    }

    @Override
    public void attach(String operation, Gid group, IncomingDatagram.Target queuePair) throws IOException {
        if (!(group.address() instanceof Inet4Address address)) {
            throw new VerbException(
                    operation,
                    Errno.EINVAL,
                    queuePair + ": " + group + " is not an IPv4 group, and RoCE devices of Java have no others;"
                            + " use one of 224.0.0.0/4");
        }
        port.attach(operation, address, queuePair);
    }

    @Override
    public void detach(Gid group, IncomingDatagram.Target queuePair) throws IOException {
        if (group.address() instanceof Inet4Address address) {
            port.detach(address, queuePair);
        }
    }

    @Override
    public ConnectionManagerDriver openConnectionManager() {
        return new IbConnectionManager(
                settings.name(), port, settings.tcp().address(), settings.guid(), LinkTerms.MOST_READS);
    }

    @Override
    public long onTime() {
        return port.onTime();
    }

    @Override
    public Map<String, Long> counters() {
        return port.counters();
    }

    @Override
    public void closing() {
        port.closing();
    }

    @Override
    public void close() throws IOException {
        port.close();
    }
}
