package io.rdmacomm.soft;

import io.rdmacomm.soft.mapped.CompletionRing;
import io.rdmacomm.soft.transport.Arrivals;
import io.rdmacomm.soft.transport.DatagramAddress;
import io.rdmacomm.soft.transport.DatagramOutput;
import io.rdmacomm.soft.transport.Endpoint;
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

/// How a context reaches its peers, and they it. [IwarpNetwork] and [RoceNetwork] are the two kinds; nothing else of a
/// context depends on which it has.
interface Network extends AutoCloseable {
    /// Whether it has a capability, with what all devices have ([SoftLimits#supports]).
    boolean supports(Capability capability);

    /// Sets the limits that depend on it.
    default void describe(DeviceValues values) {}

    /// Sets the attributes of the port that depend on it.
    void describe(PortValues values);

    /// Takes a number for a queue pair. Peers over RoCE name no context, so all of a process at one address share the
    /// numbers.
    ///
    /// @return false if it is taken, or no queue pair may have it
    default boolean claimNumber(int number) {
        return true;
    }

    /// The queue pair with a number that was claimed is gone.
    default void releaseNumber(int number) {}

    /// Refuses the path of a queue pair to a peer that it can never reach.
    ///
    /// @throws VerbException EINVAL
    default void checkPath(String operation, QueuePairDriver queuePair, @Nullable AddressVector path) {}

    /// A transport that needs no connection; null if the peer must be called, or cannot be reached yet.
    @Nullable
    Transport connect(QueuePairResources queuePair);

    /// How a queue pair gets a connection, if its transport needs one.
    ///
    /// @param sends of the completion queue of its sends, made by [#arrivals]
    /// @param receives of the completion queue of its receives
    Endpoint endpoint(QueuePairResources queuePair, Endpoint.Owner owner, Arrivals sends, Arrivals receives);

    /// What arrives for the queue pairs of a completion queue.
    Arrivals arrivals(CompletionRing completions);

    /// Begins to receive datagrams, with the first queue pair for them, and to send those of one queue pair.
    ///
    /// @param number of the queue pair
    /// @throws IOException if the port is taken, this host has no such address, or there is no socket left
    DatagramOutput openDatagrams(int number) throws IOException;

    /// Where the datagrams of an address handle go.
    ///
    /// @param domain the number of its protection domain
    /// @throws VerbException EINVAL if there is no such place
    /// @throws IOException if it needs a socket, and there is none left
    DatagramAddress datagramAddress(AddressVector vector, int domain) throws IOException;

    /// Has a queue pair receive what is sent to a multicast group, too, if it [supports][#supports] that.
    ///
    /// @throws VerbException EINVAL if there is no such group, ENOMEM if there is no room for more
    /// @throws IOException if there is no socket left, or the interface cannot join the group
    default void attach(String operation, Gid group, IncomingDatagram.Target queuePair) throws IOException {
        throw new UnsupportedOperationException(operation);
    }

    /// Ends [#attach]; a datagram that is being delivered may still reach the queue pair.
    default void detach(Gid group, IncomingDatagram.Target queuePair) throws IOException {}

    /// Connects queue pairs by address.
    ConnectionManagerDriver openConnectionManager();

    /// Time has passed; the engine.
    ///
    /// @return nanoseconds until the next call is due
    long onTime();

    /// The counters by name.
    Map<String, Long> counters();

    /// Waits until no copy of this context's memory is in progress that peers have asked for.
    default void awaitCopiesForPeers() {}

    /// A region whose memory peers may have mapped is gone.
    default void regionGone() {}

    /// Parts from what other contexts use, too, before the engine stops and closes what it watches.
    default void closing() throws IOException {}

    /// Ends everything; the engine has stopped.
    @Override
    void close() throws IOException;
}
