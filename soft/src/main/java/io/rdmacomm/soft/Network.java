package io.rdmacomm.soft;

import io.rdmacomm.soft.mapped.CompletionRing;
import io.rdmacomm.soft.transport.Arrivals;
import io.rdmacomm.soft.transport.ConnectionSetup;
import io.rdmacomm.soft.transport.DatagramAddress;
import io.rdmacomm.soft.transport.DatagramOutput;
import io.rdmacomm.soft.transport.IncomingDatagram;
import io.rdmacomm.soft.transport.QueuePairResources;
import io.rdmacomm.soft.transport.Transport;
import io.rdmacomm.verbs.AddressVector;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.spi.ConnectionManagerDriver;
import io.rdmacomm.verbs.spi.DeviceValues;
import io.rdmacomm.verbs.spi.PortValues;
import io.rdmacomm.verbs.spi.QueuePairDriver;
import java.io.IOException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The connection between a context and its peers. [IwarpNetwork] and [RoceNetwork] are the two kinds; nothing else
/// in a context depends on the kind.
interface Network extends AutoCloseable {
    /// Whether it has a capability, including those of all devices ([SoftLimits#supports]).
    boolean supports(Capability capability);

    /// Sets the limits that depend on the network.
    default void describe(DeviceValues values) {}

    /// Sets the attributes of the port that depend on the network.
    void describe(PortValues values);

    /// Takes a number for a queue pair. RoCE packets name no context, so all contexts of a process at one address
    /// share the numbers.
    ///
    /// @return false if it is taken, or no queue pair may have it
    default boolean claimNumber(int number) {
        return true;
    }

    /// Gives back the claimed number of a queue pair that is gone.
    default void releaseNumber(int number) {}

    /// Rejects the path of a queue pair to a peer that it can never reach.
    ///
    /// @throws VerbException EINVAL
    default void checkPath(String operation, QueuePairDriver queuePair, @Nullable AddressVector path) {}

    /// A transport without a connection; null if the peer must be called, or cannot be reached yet.
    @Nullable
    Transport connect(QueuePairResources queuePair);

    /// The connection setup of a queue pair, if its transport needs one.
    ///
    /// @param sends of the completion queue of its sends, made by [#arrivals]
    /// @param receives of the completion queue of its receives
    ConnectionSetup setup(QueuePairResources queuePair, ConnectionSetup.Owner owner, Arrivals sends, Arrivals receives);

    /// The incoming data for the queue pairs of a completion queue.
    Arrivals arrivals(CompletionRing completions);

    /// A place where a thread that waits for a group can sleep until data arrives for any of its queues; null if the
    /// network has none.
    default Arrivals.@Nullable GroupPlace groupPlace() {
        return null;
    }

    /// An output for the datagrams of one queue pair. The first call also begins to receive datagrams.
    /// @param number of the queue pair
    /// @throws IOException if the port is taken, this host has no such address, or there is no socket left
    DatagramOutput openDatagrams(int number) throws IOException;

    /// The destination of an address handle's datagrams.
    ///
    /// @param domain the number of its protection domain
    /// @throws VerbException EINVAL if there is no such destination
    /// @throws IOException if it needs a socket, and there is none left
    DatagramAddress datagramAddress(AddressVector vector, int domain) throws IOException;

    /// Makes a queue pair receive from a multicast group, too, if the network [supports][#supports] that.
    ///
    /// @throws VerbException EINVAL if there is no such group, ENOMEM if there is no room for more
    /// @throws IOException if there is no socket left, or the interface cannot join the group
    default void attach(String operation, Gid group, IncomingDatagram.Target queuePair) throws IOException {
        throw new UnsupportedOperationException(operation);
    }

    /// Undoes [#attach]; a datagram in delivery may still reach the queue pair.
    default void detach(Gid group, IncomingDatagram.Target queuePair) throws IOException {}

    /// Connects queue pairs by address.
    ConnectionManagerDriver openConnectionManager();

    /// Time has passed; the engine.
    ///
    /// @return nanoseconds until the next call is due
    long onTime();

    /// The counters by name.
    Map<String, Long> counters();

    /// Waits until no copy of this context's memory is in progress for a peer.
    default void awaitCopiesForPeers() {}

    /// A region whose memory peers may have mapped is gone.
    default void regionGone() {}

    /// Releases objects that other contexts share, before the engine stops and closes what it watches.
    default void closing() throws IOException {}

    /// Ends everything; the engine has stopped.
    @Override
    void close() throws IOException;
}
