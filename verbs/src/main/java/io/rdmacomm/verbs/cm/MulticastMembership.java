package io.rdmacomm.verbs.cm;

import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.Resource;
import io.rdmacomm.verbs.lifetime.Lifetime;
import io.rdmacomm.verbs.spi.MulticastDriver;

/// The membership of this host in a multicast group (rdma_join_multicast(3)): the network delivers the
/// group's datagrams here. Thread-safe. Closing it leaves the group (rdma_leave_multicast(3)).
///
/// A queue pair receives them after [io.rdmacomm.verbs.QueuePair#attach(Gid, int)] with [#group()] and [#lid()], with
/// the key of [#target()].
public final class MulticastMembership implements Resource {
    private final ConnectionManager manager;
    private final MulticastDriver driver;
    private final Lifetime lifetime;

    MulticastMembership(ConnectionManager manager, MulticastDriver driver) {
        this.manager = manager;
        this.driver = driver;
        this.lifetime = new Lifetime(this, manager.lifetime(), driver);
    }

    /// The connection manager that it belongs to.
    public ConnectionManager manager() {
        return manager;
    }

    /// The address of datagrams to the group.
    public DatagramTarget target() {
        return driver.target();
    }

    /// The identifier of the group.
    public Gid group() {
        return target().path().destinationGid();
    }

    /// The LID of the group on InfiniBand, 0 on Ethernet.
    public int lid() {
        return target().path().destinationLid();
    }

    Lifetime lifetime() {
        return lifetime;
    }

    @Override
    public boolean isOpen() {
        return lifetime.isOpen();
    }

    @Override
    public void close() {
        lifetime.close();
    }

    @Override
    public String toString() {
        return "membership in " + group() + " on " + manager.context();
    }
}
