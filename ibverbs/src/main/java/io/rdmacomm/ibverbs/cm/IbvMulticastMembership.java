package io.rdmacomm.ibverbs.cm;

import io.rdmacomm.verbs.cm.DatagramTarget;
import io.rdmacomm.verbs.cm.MulticastMembership;

/// An identifier that has joined a multicast group. Destroying it leaves the group (rdma_destroy_id(3)).
final class IbvMulticastMembership extends MulticastMembership {
    private final ConnectionIdentifier identifier;
    private final DatagramTarget target;

    IbvMulticastMembership(IbvConnectionManager connections, ConnectionIdentifier identifier, DatagramTarget target) {
        super(connections);
        this.identifier = identifier;
        this.target = target;
        identifier.handOver(connections, this);
    }

    @Override
    public DatagramTarget target() {
        return target;
    }

    @Override
    protected void doClose() {
        identifier.destroy(this);
    }
}
