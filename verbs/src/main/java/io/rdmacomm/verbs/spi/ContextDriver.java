package io.rdmacomm.verbs.spi;

import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.GidEntry;
import io.rdmacomm.verbs.GidType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// An open device ([io.rdmacomm.verbs.Context]). Thread-safe.
public interface ContextDriver extends Driver {
    /// Whether the device has `capability`. Answer false for one that the driver does not know.
    boolean supports(Capability capability);

    /// Queries the device (ibv_query_device(3)).
    DeviceValues queryDevice();

    /// Queries a port (ibv_query_port(3)).
    ///
    /// @throws io.rdmacomm.verbs.VerbException EINVAL if there is no such port
    PortValues queryPort(int number);

    /// Queries a GID (ibv_query_gid(3)).
    ///
    /// @throws io.rdmacomm.verbs.VerbException EINVAL if there is no such port or entry
    Gid queryGid(int port, int index);

    /// Queries the GID table of a port (ibv_query_gid_table(3)). The default queries its entries one by one, without
    /// their types.
    default List<GidEntry> queryGidTable(int port) {
        List<GidEntry> entries = new ArrayList<>();
        int length = queryPort(port).gidTableLength;
        for (int index = 0; index < length; index++) {
            Gid gid = queryGid(port, index);
            if (!gid.equals(Gid.NONE)) {
                entries.add(new GidEntry(index, gid, GidType.UNKNOWN, 0));
            }
        }
        return entries;
    }

    /// Queries a partition key (ibv_query_pkey(3)), 16 bits.
    ///
    /// @throws io.rdmacomm.verbs.VerbException EINVAL if there is no such port or entry
    int queryPartitionKey(int port, int index);

    /// The counters of a port that exists, by name; none by default. May read files.
    default Map<String, Long> counters(int port) {
        return Map.of();
    }

    /// Allocates a protection domain (ibv_alloc_pd(3)).
    ProtectionDomainDriver allocateProtectionDomain();

    /// Creates a completion channel (ibv_create_comp_channel(3)).
    CompletionChannelDriver createCompletionChannel();

    /// Creates a wait group without members.
    WaitGroupDriver createWaitGroup();

    /// Creates a completion queue (ibv_create_cq(3)).
    ///
    /// @param capacity the least number of completions, within the limit of the device
    /// @param channel where its events are reported; null if it is only polled
    /// @param vector the completion vector of its events, within the limit of the device
    CompletionQueueDriver createCompletionQueue(int capacity, @Nullable CompletionChannelDriver channel, int vector);

    /// Waits for the next asynchronous event (ibv_get_async_event(3)). [#closing()] ends the wait.
    ///
    /// @param timeoutNanos zero to poll
    /// @return null after the timeout and when the context is closing
    @Nullable
    DriverEvent awaitEvent(long timeoutNanos) throws InterruptedException;

    /// Opens the connection manager (rdma_create_event_channel(3)). Called only if the device has
    /// [Capability#CONNECTION_MANAGER]; closed before the context.
    default ConnectionManagerDriver openConnectionManager() {
        throw Unsupported.verb(
                this, "open connection manager (rdma_create_event_channel)", Capability.CONNECTION_MANAGER);
    }

    /// One line with the reason why the device has no connection manager, and what to do; empty if it has one
    /// or there is nothing to add.
    default String whyNoConnectionManager() {
        return "";
    }
}
