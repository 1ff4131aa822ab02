package io.rdmacomm.verbs.cm;

import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.Resource;

/// This host is a member of a multicast group (rdma_join_multicast(3)), so the network delivers its datagrams here.
/// Thread-safe. Closing it leaves the group (rdma_leave_multicast(3)).
///
/// A queue pair receives them after [io.rdmacomm.verbs.QueuePair#attach(Gid, int)] with [#group()] and [#lid()], with
/// the key of [#target()].
public abstract class MulticastMembership extends Resource {
    private final ConnectionManager manager;

    /// For providers.
    protected MulticastMembership(ConnectionManager manager) {
        super(manager);
        this.manager = manager;
    }

    /// The connection manager that it belongs to.
    public final ConnectionManager manager() {
        return manager;
    }

    /// The address of datagrams to the group.
    public abstract DatagramTarget target();

    /// The identifier of the group.
    public final Gid group() {
        return target().path().destinationGid();
    }

    /// The LID of the group on InfiniBand, 0 on Ethernet.
    public final int lid() {
        return target().path().destinationLid();
    }

    @Override
    public final String toString() {
        return "membership in " + group() + " on " + manager.context();
    }
}
