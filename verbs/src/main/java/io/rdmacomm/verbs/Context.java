package io.rdmacomm.verbs;

import io.rdmacomm.verbs.lifetime.ContextAccess;
import io.rdmacomm.verbs.lifetime.Lifetime;
import io.rdmacomm.verbs.spi.ContextDriver;
import io.rdmacomm.verbs.spi.DriverEvent;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.time.Duration;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/// An open device (`struct ibv_context`, ibv_open_device(3)): the root of the tree of objects. Thread-safe. Not
/// for the data path.
public final class Context implements Resource {
    private static final Set<Context> OPEN = ConcurrentHashMap.newKeySet();

    static {
        ContextAccess.set(new ContextAccess() {
            @Override
            public Lifetime lifetime(Context context) {
                return context.lifetime;
            }

            @Override
            public ContextDriver driver(Context context) {
                return context.driver;
            }
        });
    }

    private final Device device;
    private final ContextDriver driver;
    private final Lifetime lifetime;
    private final NumberTable<QueuePair> queuePairs = new NumberTable<>();
    private final NumberTable<CompletionQueue> completionQueues = new NumberTable<>();
    private final NumberTable<SharedReceiveQueue> sharedReceiveQueues = new NumberTable<>();
    private volatile @Nullable DeviceAttributes known;

    private Context(Device device, ContextDriver driver) {
        this.device = device;
        this.driver = driver;
        this.lifetime = new Lifetime(this, null, driver, this::release);
    }

    /// The context of a device that has been opened.
    static Context of(Device device, ContextDriver driver) {
        Context context = new Context(device, driver);
        OPEN.add(context);
        return context;
    }

    /// The contexts that are open in this process.
    static Set<Context> allOpen() {
        return Set.copyOf(OPEN);
    }

    /// The device that was opened.
    public Device device() {
        return device;
    }

    /// Whether the device has `capability`. Calls that need a missing one throw [UnsupportedVerbException].
    public boolean supports(Capability capability) {
        return driver.supports(capability);
    }

    /// Rejects a call that the device does not support.
    ///
    /// @param reason why the device does not support it, and what to do; empty if there is nothing to add
    void require(Capability needed, String operation, String reason) {
        if (!supports(needed)) {
            throw new UnsupportedVerbException(operation, needed, device.name(), reason);
        }
    }

    /// Rejects a call that the device does not support.
    void require(Capability needed, String operation) {
        require(needed, operation, "");
    }

    /// The rights in `wanted` that the device supports. Only atomics may be missing: some devices reject a region
    /// or queue pair with that right.
    public Set<AccessFlag> supported(Set<AccessFlag> wanted) {
        if (!wanted.contains(AccessFlag.REMOTE_ATOMIC) || supports(Capability.ATOMICS)) {
            return wanted;
        }
        Set<AccessFlag> able = EnumSet.copyOf(wanted);
        able.remove(AccessFlag.REMOTE_ATOMIC);
        return able;
    }

    /// `wanted`, reduced to the capabilities of the device: without unsupported rights, and with no more
    /// READs and atomics in flight than it allows. [QueuePair#connect] and its steps do this themselves.
    public ConnectionOptions fitting(ConnectionOptions wanted) {
        return wanted.fitting(supported(wanted.accessFlags()), known());
    }

    /// A limit of the device. The first call queries the device: its limits do not change while it is open.
    ///
    /// @throws VerbException with the errno of the query
    public long limit(DeviceLimit limit) {
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
    /// connections to the address (GID) and the port (LID) in them, or sends RoCE packets to the address, so a
    /// malicious sender could make this host connect to any port that it reaches. Check numbers
    /// from a peer, here or with [#checkNumbers], before you connect or send datagrams to them.
    ///
    /// A peer on this host may use any address of this host, because its device may be bound to another one
    /// than the connection uses. Always true for devices in hardware: their GIDs need not be IP addresses,
    /// and no program listens to their packets. Never blocks.
    ///
    /// @param sender the address that the numbers came from
    public boolean leadsTo(QueuePairInfo numbers, InetAddress sender) {
        return !device.isSoftware()
                || PeerPlace.of(numbers, driver.queryPort(1).lid != 0).isOf(sender);
    }

    /// Checks that the numbers of a queue pair lead to the host that has sent them; see [#leadsTo]. Never blocks.
    ///
    /// @param sender the address that the numbers came from
    /// @throws RdmaException if they lead elsewhere; the message names both addresses
    public void checkNumbers(QueuePairInfo numbers, InetAddress sender) {
        if (!leadsTo(numbers, sender)) {
            throw new RdmaException(
                    "the peer at " + sender.getHostAddress() + " names queue pairs at "
                            + numbers.gid().address().getHostAddress() + " port " + numbers.lid()
                            + "; those of its device can only be at the address that it has here, at port 1024 or"
                            + " above; bind its device to that address",
                    null);
        }
    }

    /// The device's attributes (ibv_query_device(3)). Queries the device.
    public DeviceAttributes attributes() {
        lifetime.checkOpen();
        return new DeviceAttributes(driver.queryDevice());
    }

    /// A port's attributes (ibv_query_port(3)).
    ///
    /// @param number the port, counted from 1
    /// @throws VerbException EINVAL if there is no such port
    public PortAttributes port(int number) {
        lifetime.checkOpen();
        return new PortAttributes(driver.queryPort(number));
    }

    /// An entry of a port's GID table (ibv_query_gid(3)).
    ///
    /// @param port the port, counted from 1
    /// @param index the position in the table
    /// @throws VerbException EINVAL if there is no such port or entry
    public Gid gid(int port, int index) {
        lifetime.checkOpen();
        return driver.queryGid(port, index);
    }

    /// The index of the GID to connect with by default: on RoCE a routable one of version 2, preferably an IPv4
    /// address.
    ///
    /// @param port the port, counted from 1
    /// @throws VerbException EINVAL if there is no such port
    public int preferredGidIndex(int port) {
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
    public int preferredGidIndex(int port, InetAddress local) {
        return GidChoice.choose(gidTable(port), LocalGids.of(local));
    }

    /// Whether packets with a certain address of this machine go through a port: its GID table has the address, or the
    /// port is under the interface with the address, as on InfiniBand.
    ///
    /// @param port the port, counted from 1
    /// @param local the address; no port has the wildcard address
    /// @throws VerbException EINVAL if there is no such port
    public boolean hasAddress(int port, InetAddress local) {
        LocalGids wanted = LocalGids.of(local);
        return !local.isAnyLocalAddress() && gidTable(port).stream().anyMatch(wanted::areHeldBy);
    }

    /// The valid entries of a port's GID table (ibv_query_gid_table(3)), in its order.
    ///
    /// @param port the port, counted from 1
    /// @throws VerbException EINVAL if there is no such port
    public List<GidEntry> gidTable(int port) {
        lifetime.checkOpen();
        return List.copyOf(driver.queryGidTable(port));
    }

    /// The path back to the sender of a datagram (ibv_init_ah_from_wc(3)), for
    /// [ProtectionDomain#createAddressHandle(AddressVector)]. Its values come from the sender and are checked.
    ///
    /// @param port the local port that received it, counted from 1
    /// @param index the position of its completion
    /// @param buffer the buffer of its receive, from the first byte on
    /// @throws VerbException EINVAL if there is no path back; the message says why
    public AddressVector pathBack(int port, Completions completions, int index, MemorySegment buffer) {
        lifetime.checkOpen();
        return ReturnPath.of(driver, port, completions, index, buffer);
    }

    /// An entry of a port's partition key table (ibv_query_pkey(3)), 16 bits.
    ///
    /// @param port the port, counted from 1
    /// @param index the position in the table
    /// @throws VerbException EINVAL if there is no such port or entry
    public int partitionKey(int port, int index) {
        lifetime.checkOpen();
        return driver.queryPartitionKey(port, index);
    }

    /// A port's counters by name; empty if the device has none. The provider chooses names and units: those
    /// of `soft` count the work of this context, those of `ibverbs` are the kernel's and cover all programs
    /// of the machine. They only grow, unless a driver documents otherwise. May read files.
    ///
    /// @param port the port, counted from 1
    /// @throws VerbException EINVAL if there is no such port
    public SortedMap<String, Long> counters(int port) {
        lifetime.checkOpen();
        driver.queryPort(port);
        return Collections.unmodifiableSortedMap(new TreeMap<>(driver.counters(port)));
    }

    /// Allocates a protection domain (ibv_alloc_pd(3)).
    ///
    /// @throws VerbException ENOMEM if the device has no more
    public ProtectionDomain allocateProtectionDomain() {
        lifetime.checkOpen();
        ProtectionDomain domain = new ProtectionDomain(this, driver.allocateProtectionDomain());
        lifetime.adopt(domain.lifetime());
        return domain;
    }

    /// Creates a channel for completion events (ibv_create_comp_channel(3)).
    ///
    /// @throws VerbException with the errno that the device reports
    public CompletionChannel createCompletionChannel() {
        lifetime.checkOpen();
        CompletionChannel channel = new CompletionChannel(this, driver.createCompletionChannel());
        lifetime.adopt(channel.lifetime());
        return channel;
    }

    /// Creates a completion queue (ibv_create_cq(3)).
    ///
    /// @throws VerbException EINVAL if the capacity exceeds the limit of the device, it has no such completion
    ///         vector, or the channel belongs to another context; ENOMEM if there is not enough memory
    public CompletionQueue createCompletionQueue(CompletionQueueOptions options) {
        lifetime.checkOpen();
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
            channel.lifetime().checkOpen();
        }
        CompletionQueue queue = new CompletionQueue(
                this,
                options,
                driver.createCompletionQueue(
                        options.capacity(), channel == null ? null : channel.driver(), options.vector()));
        lifetime.adopt(queue.lifetime(), queue::begin);
        return queue;
    }

    /// Waits for the next asynchronous event (ibv_get_async_event(3)). Blocks; suits virtual threads. Closing the
    /// context ends the wait.
    ///
    /// @param timeout the longest wait; zero to poll
    /// @return the event; null after the timeout
    /// @throws RdmaInterruptedException if the thread was interrupted
    /// @throws IllegalStateException if the context is closed, or is being closed
    public @Nullable AsyncEvent awaitAsyncEvent(Duration timeout) {
        lifetime.checkOpen();
        long begin = System.nanoTime();
        long nanos = timeout.toNanos();
        long left = nanos;
        while (true) {
            DriverEvent event = awaitEvent(left);
            if (event == null) {
                lifetime.checkOpen();
                return null;
            }
            AsyncEvent known = translated(event);
            if (known != null) {
                return known;
            }
            left = Math.max(0, nanos - (System.nanoTime() - begin));
        }
    }

    private @Nullable DriverEvent awaitEvent(long nanos) {
        try {
            return driver.awaitEvent(nanos);
        } catch (InterruptedException e) {
            throw new RdmaInterruptedException("interrupted while waiting for an asynchronous event of " + this, e);
        }
    }

    /// The event for the user; null if its object was closed meanwhile, which drops its events, as in C.
    private @Nullable AsyncEvent translated(DriverEvent event) {
        AsyncEventType type = event.type();
        return switch (type) {
            case QUEUE_PAIR_FATAL,
                    QUEUE_PAIR_REQUEST_ERROR,
                    QUEUE_PAIR_ACCESS_ERROR,
                    COMMUNICATION_ESTABLISHED,
                    SEND_QUEUE_DRAINED,
                    PATH_MIGRATED,
                    PATH_MIGRATION_ERROR,
                    QUEUE_PAIR_LAST_WORK_REACHED -> of(type, queuePairs.find(event.element()));
            case COMPLETION_QUEUE_ERROR -> of(type, completionQueues.find(event.element()));
            case SHARED_RECEIVE_QUEUE_ERROR, SHARED_RECEIVE_QUEUE_LIMIT_REACHED ->
                of(type, sharedReceiveQueues.find(event.element()));
            case PORT_ACTIVE,
                    PORT_ERROR,
                    LID_CHANGE,
                    PARTITION_KEY_CHANGE,
                    SUBNET_MANAGER_CHANGE,
                    CLIENT_REREGISTER,
                    GID_CHANGE -> new AsyncEvent(type, null, (int) event.element());
            case DEVICE_FATAL, WORK_QUEUE_FATAL, UNKNOWN -> new AsyncEvent(type, null, 0);
        };
    }

    private static @Nullable AsyncEvent of(AsyncEventType type, @Nullable Resource element) {
        return element == null ? null : new AsyncEvent(type, element, 0);
    }

    /// The open queue pair with this number, as in [Completions#queuePairNumber(int)]; null if there is none.
    public @Nullable QueuePair queuePair(int number) {
        return queuePairs.find(number);
    }

    NumberTable<QueuePair> queuePairs() {
        return queuePairs;
    }

    NumberTable<CompletionQueue> completionQueues() {
        return completionQueues;
    }

    NumberTable<SharedReceiveQueue> sharedReceiveQueues() {
        return sharedReceiveQueues;
    }

    private void release() {
        try {
            driver.close();
        } finally {
            OPEN.remove(this);
        }
    }

    ContextDriver driver() {
        return driver;
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
        return device.name();
    }
}
