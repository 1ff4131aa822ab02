package io.rdmacomm.verbs;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/// An open device (`struct ibv_context`, ibv_open_device(3)): the root of the tree of objects. Thread-safe. Not
/// for the data path.
public abstract class Context extends Resource {
    private static final Set<Context> OPEN = ConcurrentHashMap.newKeySet();

    private final Device device;
    private final NumberTable<QueuePair> queuePairs = new NumberTable<>();
    private volatile @Nullable DeviceAttributes known;

    /// For providers.
    protected Context(Device device) {
        super(null);
        this.device = device;
    }

    /// The contexts that are open in this process.
    static Set<Context> allOpen() {
        return Set.copyOf(OPEN);
    }

    /// Called once, when the device has been opened.
    final void begin() {
        OPEN.add(this);
    }

    /// The device that was opened.
    public final Device device() {
        return device;
    }

    /// Whether the device has `capability`. Calls that need a missing one throw [UnsupportedVerbException].
    public abstract boolean supports(Capability capability);

    /// The rights in `wanted` that the device supports: all but atomics, which some devices do not have. Such a device
    /// may reject a region or queue pair with that right.
    public final Set<AccessFlag> supported(Set<AccessFlag> wanted) {
        if (!wanted.contains(AccessFlag.REMOTE_ATOMIC) || supports(Capability.ATOMICS)) {
            return wanted;
        }
        Set<AccessFlag> able = EnumSet.copyOf(wanted);
        able.remove(AccessFlag.REMOTE_ATOMIC);
        return able;
    }

    /// `wanted` as far as the device can do it: without rights that it does not support, and with no more READs and
    /// atomics in flight than it allows. [QueuePair#connect] and its steps do so themselves.
    public final ConnectionOptions fitting(ConnectionOptions wanted) {
        return wanted.fitting(supported(wanted.accessFlags()), known());
    }

    /// A limit of the device. The device is queried when the first one is asked for: its limits do not change while
    /// it is open.
    ///
    /// @throws VerbException with the errno of that query
    public final long limit(DeviceLimit limit) {
        return known().limit(limit);
    }

    private DeviceAttributes known() {
        DeviceAttributes attributes = known;
        if (attributes == null) {
            attributes = attributes();
            known = attributes;
        }
        return attributes;
    }

    /// Whether the numbers of a queue pair lead to the host that has sent them. A software device makes TCP
    /// connections to the address (GID) and the port (LID) in them, so that whoever sends numbers could make
    /// this host call any port that it reaches. Ask before you connect to numbers that came over a connection,
    /// or send datagrams there.
    ///
    /// A peer on this host may name any address of this host: a device is bound to one of them, and the
    /// connection may use another. The answer is always yes for devices in hardware: a GID need not be an IP
    /// address there, and no program listens to their packets. Never blocks.
    ///
    /// @param sender the address that the numbers came from
    public final boolean leadsTo(QueuePairInfo numbers, InetAddress sender) {
        return device.transport() != TransportType.UNSPECIFIED
                || PeerPlace.of(numbers).isOf(sender);
    }

    /// The device's attributes (ibv_query_device(3)). Queries the device.
    public final DeviceAttributes attributes() {
        checkOpen();
        return doQueryDevice();
    }

    /// A port's attributes (ibv_query_port(3)).
    ///
    /// @param number the port, counted from 1
    /// @throws VerbException EINVAL if there is no such port
    public final PortAttributes port(int number) {
        checkOpen();
        return doQueryPort(number);
    }

    /// An entry of a port's GID table (ibv_query_gid(3)).
    ///
    /// @param port the port, counted from 1
    /// @param index the position in the table
    /// @throws VerbException EINVAL if there is no such port or entry
    public final Gid gid(int port, int index) {
        checkOpen();
        return doQueryGid(port, index);
    }

    /// The index of the GID to connect with by default: on RoCE a routable one of version 2, preferably an IPv4
    /// address.
    ///
    /// @param port the port, counted from 1
    /// @throws VerbException EINVAL if there is no such port
    public final int preferredGidIndex(int port) {
        return GidChoice.choose(gidTable(port), LocalGids.NONE);
    }

    /// The index of the GID to connect with for a program that uses a certain address of this machine. On RoCE it
    /// is the entry of version 2 with that address; if several interfaces have the same link-local address, that
    /// of its scope. On InfiniBand and iWARP it is the entry of the port under the interface with that address.
    /// Otherwise it is [#preferredGidIndex(int)].
    ///
    /// @param port the port, counted from 1
    /// @param local the address; the wildcard address for any
    /// @throws VerbException EINVAL if there is no such port
    public final int preferredGidIndex(int port, InetAddress local) {
        return GidChoice.choose(gidTable(port), LocalGids.of(local));
    }

    /// Whether packets with a certain address of this machine go through a port: its GID table has the address, or the
    /// port is under the interface with the address, as on InfiniBand.
    ///
    /// @param port the port, counted from 1
    /// @param local the address; no port has the wildcard address
    /// @throws VerbException EINVAL if there is no such port
    public final boolean hasAddress(int port, InetAddress local) {
        LocalGids wanted = LocalGids.of(local);
        return !local.isAnyLocalAddress() && gidTable(port).stream().anyMatch(wanted::areHeldBy);
    }

    /// The valid entries of a port's GID table (ibv_query_gid_table(3)), in its order.
    ///
    /// @param port the port, counted from 1
    /// @throws VerbException EINVAL if there is no such port
    public final List<GidEntry> gidTable(int port) {
        checkOpen();
        return List.copyOf(doQueryGidTable(port));
    }

    /// The path back to the sender of a datagram (ibv_init_ah_from_wc(3)), for
    /// [ProtectionDomain#createAddressHandle(AddressVector)]. Its values come from the sender and are checked.
    ///
    /// @param port the local port that received it, counted from 1
    /// @param index the position of its completion
    /// @param buffer the buffer of its receive, from the first byte on
    /// @throws VerbException EINVAL if it cannot be answered; the message says why
    public final AddressVector pathBack(int port, Completions completions, int index, MemorySegment buffer) {
        checkOpen();
        return ReturnPath.of(this, port, completions, index, buffer);
    }

    /// An entry of a port's partition key table (ibv_query_pkey(3)), 16 bits.
    ///
    /// @param port the port, counted from 1
    /// @param index the position in the table
    /// @throws VerbException EINVAL if there is no such port or entry
    public final int partitionKey(int port, int index) {
        checkOpen();
        return doQueryPartitionKey(port, index);
    }

    /// A port's counters by name; empty if the device has none. The provider chooses names and units: those of `soft`
    /// count what this context did, those of `ibverbs` are the kernel's and count for all programs of the machine.
    /// They only grow, except where a driver says otherwise. May read files.
    ///
    /// @param port the port, counted from 1
    /// @throws VerbException EINVAL if there is no such port
    public final SortedMap<String, Long> counters(int port) {
        checkOpen();
        doQueryPort(port);
        return Collections.unmodifiableSortedMap(new TreeMap<>(doQueryCounters(port)));
    }

    /// Allocates a protection domain (ibv_alloc_pd(3)).
    ///
    /// @throws VerbException ENOMEM if the device has no more
    public final ProtectionDomain allocateProtectionDomain() {
        checkOpen();
        return adopt(doAllocateProtectionDomain());
    }

    /// Creates a channel for completion events (ibv_create_comp_channel(3)).
    ///
    /// @throws VerbException with the errno that the device reports
    public final CompletionChannel createCompletionChannel() {
        checkOpen();
        return adopt(doCreateCompletionChannel());
    }

    /// Creates a completion queue (ibv_create_cq(3)).
    ///
    /// @throws VerbException EINVAL if the capacity exceeds the limit of the device, it has no such completion
    ///         vector, or the channel belongs to another context; ENOMEM if there is not enough memory
    public final CompletionQueue createCompletionQueue(CompletionQueueOptions options) {
        checkOpen();
        CompletionChannel channel = options.channel();
        if (channel != null && !channel.context().equals(this)) {
            throw new VerbException(
                    "create completion queue (ibv_create_cq)",
                    Errno.EINVAL,
                    channel + " belongs to another context than " + this);
        }
        long max = limit(DeviceLimit.MAX_COMPLETION_QUEUE_DEPTH);
        if (options.capacity() > max) {
            throw new VerbException(
                    "create completion queue (ibv_create_cq)",
                    Errno.EINVAL,
                    "capacity " + options.capacity() + " exceeds the limit of " + max + " on " + this);
        }
        long vectors = Math.max(1, limit(DeviceLimit.COMPLETION_VECTORS));
        if (options.vector() >= vectors) {
            throw new VerbException(
                    "create completion queue (ibv_create_cq)",
                    Errno.EINVAL,
                    this + " has no completion vector " + options.vector() + "; choose one of 0 to " + (vectors - 1));
        }
        if (channel != null) {
            channel.checkOpen();
        }
        CompletionQueue queue = doCreateCompletionQueue(options);
        queue.dependOnChannel();
        return adopt(queue);
    }

    /// Waits for the next asynchronous event (ibv_get_async_event(3)). Blocks; suits virtual threads. Closing the
    /// context ends the wait.
    ///
    /// @param timeout the longest wait; zero to poll
    /// @return the event; null after the timeout
    /// @throws InterruptedException if the thread was interrupted
    /// @throws IllegalStateException if the context is closed, or is being closed
    public final @Nullable AsyncEvent awaitAsyncEvent(Duration timeout) throws InterruptedException {
        checkOpen();
        AsyncEvent event = doAwaitAsyncEvent(timeout.toNanos());
        if (event == null) {
            checkOpen();
        }
        return event;
    }

    /// The open queue pair with this number, as in [Completions#queuePairNumber(int)]; null if there is none.
    public final @Nullable QueuePair queuePair(int number) {
        return queuePairs.find(number);
    }

    final NumberTable<QueuePair> queuePairs() {
        return queuePairs;
    }

    @Override
    protected final void doClose() {
        try {
            doCloseDevice();
        } finally {
            OPEN.remove(this);
        }
    }

    @Override
    public final String toString() {
        return device.name();
    }

    /// Queries the device for [#attributes()].
    protected abstract DeviceAttributes doQueryDevice();

    /// Queries a port for [#port(int)].
    protected abstract PortAttributes doQueryPort(int number);

    /// Queries a GID for [#gid(int, int)].
    protected abstract Gid doQueryGid(int port, int index);

    /// Queries the table for [#gidTable(int)]. The default queries the entries one by one, without their types.
    protected List<GidEntry> doQueryGidTable(int port) {
        List<GidEntry> entries = new ArrayList<>();
        int length = doQueryPort(port).gidTableLength();
        for (int index = 0; index < length; index++) {
            Gid gid = doQueryGid(port, index);
            if (!gid.equals(Gid.NONE)) {
                entries.add(new GidEntry(index, gid, GidType.UNKNOWN, 0));
            }
        }
        return entries;
    }

    /// Queries a partition key for [#partitionKey(int, int)].
    protected abstract int doQueryPartitionKey(int port, int index);

    /// Reads the counters for [#counters(int)], of a port that exists. By default there are none.
    protected Map<String, Long> doQueryCounters(int port) {
        return Map.of();
    }

    /// Creates the object for [#allocateProtectionDomain()].
    protected abstract ProtectionDomain doAllocateProtectionDomain();

    /// Creates the object for [#createCompletionChannel()].
    protected abstract CompletionChannel doCreateCompletionChannel();

    /// Creates the object for [#createCompletionQueue(CompletionQueueOptions)].
    protected abstract CompletionQueue doCreateCompletionQueue(CompletionQueueOptions options);

    /// Waits for [#awaitAsyncEvent(Duration)]; null after the timeout and when the context is closing.
    protected abstract @Nullable AsyncEvent doAwaitAsyncEvent(long timeoutNanos) throws InterruptedException;

    /// Closes the device, after its children.
    protected abstract void doCloseDevice();
}
