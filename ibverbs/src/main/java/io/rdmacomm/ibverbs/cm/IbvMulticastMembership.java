package io.rdmacomm.ibverbs.cm;

import io.rdmacomm.verbs.cm.DatagramTarget;
import io.rdmacomm.verbs.spi.MulticastDriver;

/// An identifier that has joined a multicast group. Destroying it leaves the group (rdma_destroy_id(3)).
final class IbvMulticastMembership implements MulticastDriver {
    private final DeviceConnections connections;
    private final ConnectionIdentifier identifier;
    private final DatagramTarget target;

    IbvMulticastMembership(DeviceConnections connections, ConnectionIdentifier identifier, DatagramTarget target) {
        this.connections = connections;
        this.identifier = identifier;
        this.target = target;
        identifier.handOver(connections, this);
    }

    @Override
    public DatagramTarget target() {
        return target;
    }

    @Override
    public void close() {
        identifier.destroy(this);
    }

    @Override
    public String toString() {
        return "membership in " + target.path().destinationGid() + " on " + connections;
    }
}
