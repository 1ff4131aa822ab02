package io.rdmacomm.comm;

import io.rdmacomm.comm.data.Bounds;
import io.rdmacomm.comm.data.ChannelSizes;
import io.rdmacomm.comm.data.DeviceEvents;
import io.rdmacomm.comm.data.SlowOperations;
import io.rdmacomm.comm.progress.CompletionGroup;
import io.rdmacomm.comm.progress.CompletionLoop;
import io.rdmacomm.comm.progress.CompletionQueues;
import io.rdmacomm.comm.progress.EventLoop;
import io.rdmacomm.comm.progress.GroupLease;
import io.rdmacomm.comm.progress.IdleStrategy;
import io.rdmacomm.comm.progress.SharedGroups;
import io.rdmacomm.comm.progress.WorkId;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.DeviceChoice;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.PathOptions;
import io.rdmacomm.verbs.PortAttributes;
import io.rdmacomm.verbs.PortState;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.QueuePairInfo;
import io.rdmacomm.verbs.Rdma;
import io.rdmacomm.verbs.RdmaException;
import io.rdmacomm.verbs.TransportType;
import io.rdmacomm.verbs.UnsupportedVerbException;
import io.rdmacomm.verbs.cm.ConnectionManager;
import io.rdmacomm.verbs.counters.CountersPublisher;
import io.rdmacomm.verbs.service.Closer;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.nio.channels.FileChannel;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The device of a session and what its endpoints share: one protection domain, the buffers, and the
/// completion queues with the threads that poll them.
final class SessionDevice implements AutoCloseable {
    private static final int MAX_NAME = 128;
    private static final long SPIN_NANOS = 20_000;
    private static final int CHANNELS_TO_BEGIN_WITH = 4;
    private static final Set<AccessFlag> CELL_ACCESS =
            EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ);

    private final SessionSettings settings;
    private final Context context;
    private final int portNumber;
    private final ProtectionDomain domain;
    private final RegisteredMemory memory;
    private final @Nullable SessionReceives receives;
    private final DeviceEvents events;
    private final UnclosedMessages unclosed = new UnclosedMessages();
    private final CompletionQueues queues;
    private final CompletionGroup control;
    private final CompletionLoop controlLoop;
    private final @Nullable SharedGroups shared;
    private final @Nullable EventLoop eventLoop;
    private final ReentrantLock connectionsLock = new ReentrantLock();
    private @Nullable ConnectionManager connections;
    private volatile Runnable onLost = () -> {};
    private final ConcurrentMap<String, RdmaBuffer> buffers = new ConcurrentHashMap<>();

    private SessionDevice(SessionSettings settings, DeviceChoice opened) {
        String name = settings.name();
        this.settings = settings;
        this.context = opened.context();
        this.portNumber = opened.port();
        check(settings);
        this.domain = context.allocateProtectionDomain();
        this.memory = new RegisteredMemory(name, settings.buffers().limit());
        this.receives = sharedReceives(settings);
        this.events = new DeviceEvents(context, name, receives == null ? null : receives.pool());
        this.queues = new CompletionQueues(context, settings.modes().vector());
        this.control = events.watch(new CompletionGroup(
                queues,
                "rdmacomm-" + name + "-control",
                0,
                CHANNELS_TO_BEGIN_WITH
                        * ControlChannel.options(settings.channel().connection())
                                .sizes()
                                .completions(),
                WorkId.MAX_SLOTS,
                false));
        IdleStrategy idle = control.newIdleStrategy();
        this.controlLoop = new CompletionLoop(
                control,
                (polled, maxNanos) -> {
                    SlowOperations.refresh();
                    CountersPublisher.PROCESS.tick();
                    unclosed.tick();
                    idle.idle(polled, maxNanos);
                },
                () -> onLost.run());
        if (settings.modes().thread() == ThreadMode.PER_QUEUE_PAIR) {
            this.shared = null;
            this.eventLoop = settings.modes().work() == WorkMode.EPOLL
                    ? new EventLoop(context, "rdmacomm-" + name + "-events").start()
                    : null;
        } else {
            int count = settings.modes().threads();
            String of = "rdmacomm-" + name + "-data";
            this.shared = new SharedGroups(
                    count,
                    i -> events.watch(new CompletionGroup(
                            queues,
                            count == 1 ? of : of + "-" + i,
                            spinNanos(settings.modes().work()),
                            CHANNELS_TO_BEGIN_WITH * settings.channel().sizes().completions(),
                            WorkId.MAX_SLOTS,
                            settings.modes().thread() == ThreadMode.CALLER)));
            this.eventLoop = null;
        }
        controlLoop.start();
    }

    private @Nullable SessionReceives sharedReceives(SessionSettings settings) {
        SharedReceives shared = settings.data().receives();
        if (shared == null) {
            return null;
        }
        int messageBytes = settings.channel().messageBytes();
        RdmaBuffer memory = pool(SessionReceives.bytes(shared, messageBytes));
        return new SessionReceives(domain, shared, messageBytes, memory);
    }

    /// The time for which idle threads spin before they sleep.
    private static long spinNanos(WorkMode mode) {
        return switch (mode) {
            case POLLING -> CompletionGroup.SPIN_FOREVER;
            case COMPLETION_CHANNEL, EPOLL -> 0;
            case ADAPTIVE -> SPIN_NANOS;
        };
    }

    /// Opens the device in the settings. Its threads are named after the session.
    ///
    /// @param local the address that this side uses for TCP; the wildcard address if it is unknown
    static SessionDevice open(SessionSettings settings, Supplier<InetAddress> local) {
        Capability needed = settings.addressing().setup() == Setup.CONNECTION_MANAGER
                ? Capability.CONNECTION_MANAGER
                : Capability.CONNECT_BY_NUMBERS;
        int number = settings.channel().connection().path().port();
        DeviceChoice port = settings.device().isEmpty()
                ? DeviceChoice.open(number, needed, local)
                : new DeviceChoice(Rdma.open(settings.device()), number);
        boolean opened = false;
        try {
            SessionDevice device = new SessionDevice(settings, port);
            opened = true;
            return device;
        } finally {
            if (!opened) {
                port.context().close();
            }
        }
    }

    /// Checks the settings against each other and the device.
    private void check(SessionSettings settings) {
        int threads = settings.modes().threads();
        if (threads > 1 && settings.modes().thread() != ThreadMode.SHARED_CQ) {
            throw new IllegalArgumentException(
                    threads + " completion threads need the thread mode SHARED_CQ, but this session uses "
                            + settings.modes().thread());
        }
        checkPort();
        settings.channel().connection().path().gidIndex().ifPresent(index -> context.gid(portNumber, index));
        Capability needed = needed(context, settings.addressing().setup());
        if (!context.supports(needed)) {
            throw new UnsupportedVerbException(
                    "connect queue pairs", needed, context.device().name());
        }
        if (needed == Capability.CONNECTION_MANAGER) {
            checkManaged(settings.channel().connection().path(), context);
        }
    }

    private PortAttributes checkPort() {
        PortAttributes port = port();
        if (port.state() != PortState.ACTIVE) {
            throw new RdmaException(
                    "port " + portNumber + " of " + context + " is " + port.state()
                            + "; check the cable and the network, or choose another port",
                    null);
        }
        return port;
    }

    /// Rejects settings that the connection manager decides itself, as they would have no effect.
    private static void checkManaged(PathOptions path, Context context) {
        PathOptions possible = PathOptions.defaults()
                .withPort(path.port())
                .withQuality(PathOptions.defaults().serviceLevel(), path.trafficClass());
        if (!path.equals(possible)) {
            throw new RdmaException(
                    "the connection manager of " + context + " chooses all of a path except its traffic class; set up"
                            + " sessions with Setup.NUMBERS, or leave out what differs from " + possible + " in "
                            + path,
                    null);
        }
    }

    /// The capability that a session needs.
    private static Capability needed(Context context, Setup setup) {
        boolean manager = setup == Setup.CONNECTION_MANAGER
                || (setup == Setup.AUTOMATIC && !context.supports(Capability.CONNECT_BY_NUMBERS));
        return manager ? Capability.CONNECTION_MANAGER : Capability.CONNECT_BY_NUMBERS;
    }

    /// `given` with the port of this device and the GID that fits the address of this side, unless they
    /// specify one. Valid for one endpoint only, because addresses and their GID table entries may change.
    ///
    /// @param local the address that this side uses for TCP
    /// @throws RdmaException if the port is down
    SessionSettings forConnection(SessionSettings given, Supplier<InetAddress> local) {
        PortAttributes port = checkPort();
        PathOptions path = given.channel().connection().path();
        int index = path.gidIndex()
                .orElseGet(() -> port.gidTableLength() <= 1 ? 0 : context.preferredGidIndex(portNumber, local.get()));
        return withPath(given, path.withPort(portNumber).withGidIndex(index));
    }

    /// `given` with the port of this device.
    SessionSettings onPort(SessionSettings given) {
        return withPath(given, given.channel().connection().path().withPort(portNumber));
    }

    private static SessionSettings withPath(SessionSettings given, PathOptions path) {
        ConnectionOptions how = given.channel().connection();
        return given.withChannel(given.channel().withConnection(how.withPath(path)));
    }

    Context context() {
        return context;
    }

    DeviceEvents events() {
        return events;
    }

    /// Calls `task` once if the context is closed from outside; it must not block.
    void onLost(Runnable task) {
        onLost = task;
    }

    /// The address of queue pairs that are made with these settings, from [#forConnection].
    QueuePairInfo numbers(SessionSettings complete) {
        PathOptions path = complete.channel().connection().path();
        Gid gid = context.gid(portNumber, path.gidIndex().orElseThrow());
        return new QueuePairInfo(0, 0, port().lid(), gid, path.mtu());
    }

    ProtectionDomain domain() {
        return domain;
    }

    /// The connection manager of the device, opened at the first call.
    ///
    /// @throws UnsupportedVerbException if the device has none
    ConnectionManager connections() {
        connectionsLock.lock();
        try {
            ConnectionManager opened = connections;
            if (opened == null) {
                opened = ConnectionManager.open(context);
                connections = opened;
            }
            return opened;
        } finally {
            connectionsLock.unlock();
        }
    }

    /// The current attributes of the port.
    PortAttributes port() {
        return context.port(portNumber);
    }

    CompletionGroup control() {
        return control;
    }

    /// Warns of messages that programs do not close.
    UnclosedMessages unclosed() {
        return unclosed;
    }

    /// The receives that the data channels share; null if each has its own.
    @Nullable
    SessionReceives sharedReceives() {
        return receives;
    }

    /// The group for the completions of all data channels of an endpoint; null if each has its own.
    @Nullable
    GroupLease sharedGroup() {
        return shared == null ? null : shared.lease();
    }

    /// The group for the completions of one data channel.
    GroupLease ownGroup(String channel, ChannelSizes sizes) {
        EventLoop serving = eventLoop;
        if (serving != null) {
            CompletionGroup served =
                    events.watch(new CompletionGroup(queues, "rdmacomm-" + channel, sizes.completions(), serving));
            return new GroupLease(served, () -> serving.add(served), () -> {
                events.forget(served);
                serving.remove(served);
                served.close();
            });
        }
        CompletionGroup own = events.watch(new CompletionGroup(
                queues, "rdmacomm-" + channel, spinNanos(settings.modes().work()), sizes.completions(), 1, false));
        CompletionLoop loop = new CompletionLoop(own, own.newIdleStrategy());
        return new GroupLease(own, loop::start, () -> {
            events.forget(own);
            loop.close();
            own.close();
        });
    }

    /// The group that callers drive, or null.
    @Nullable
    CompletionGroup callerGroup() {
        return shared == null ? null : shared.callerDriven();
    }

    RdmaBuffer allocate(String name, long blockSize, int blockCount, Set<AccessFlag> access) {
        checkName(name);
        Bounds.range("block size", blockSize, 1, Long.MAX_VALUE);
        Bounds.range("block count", blockCount, 1, Integer.MAX_VALUE);
        long bytes = product(blockSize, blockCount);
        return keep(allocate(name, bytes, blockSize, blockCount, access));
    }

    /// Memory of a pool. It is not among the named buffers, whose names must be unique.
    RdmaBuffer chunk(String pool, long bytes, Set<AccessFlag> access) {
        return allocate(pool, bytes, bytes, 1, access);
    }

    private RdmaBuffer allocate(String name, long bytes, long blockSize, int blockCount, Set<AccessFlag> access) {
        Set<AccessFlag> rights = context.supported(access);
        return register(
                name,
                bytes,
                rights,
                blockSize,
                blockCount,
                () -> domain.allocate(
                        bytes, registered(rights), settings.buffers().pages()));
    }

    private static long product(long blockSize, int blockCount) {
        try {
            return Math.multiplyExact(blockSize, blockCount);
        } catch (ArithmeticException e) {
            throw new IllegalArgumentException(
                    blockCount + " blocks of " + blockSize + " bytes are more than can be addressed", e);
        }
    }

    /// A buffer whose memory counts.
    private RdmaBuffer register(
            String name,
            long bytes,
            Set<AccessFlag> rights,
            long blockSize,
            int blockCount,
            Supplier<MemoryRegion> region) {
        memory.take(bytes, name);
        boolean made = false;
        try {
            RdmaBuffer buffer =
                    new RdmaBuffer(name, region.get(), rights, blockSize, blockCount, () -> memory.give(bytes, name));
            made = true;
            return buffer;
        } finally {
            if (!made) {
                memory.give(bytes, name);
            }
        }
    }

    /// The memory that is registered now.
    RegisteredMemory memory() {
        return memory;
    }

    RdmaBuffer wrap(String name, MemorySegment segment, Set<AccessFlag> access) {
        checkName(name);
        Set<AccessFlag> rights = context.supported(access);
        long bytes = segment.byteSize();
        return keep(register(name, bytes, rights, bytes, 1, () -> domain.register(segment, registered(rights))));
    }

    RdmaBuffer map(String name, FileChannel channel, long offset, long length, Set<AccessFlag> access) {
        checkName(name);
        Bounds.range("length of buffer '" + name + "'", length, 1, Long.MAX_VALUE);
        Set<AccessFlag> rights = context.supported(access);
        return keep(register(
                name, length, rights, length, 1, () -> domain.map(channel, offset, length, registered(rights))));
    }

    /// The rights with which a buffer is registered. iWARP adapters treat the answer to a READ as a WRITE of the
    /// peer, so every writable buffer needs REMOTE_WRITE there. The program does not see this right, so it is never
    /// announced.
    private Set<AccessFlag> registered(Set<AccessFlag> rights) {
        boolean more = context.device().transport() == TransportType.IWARP && rights.contains(AccessFlag.LOCAL_WRITE);
        Set<AccessFlag> all = EnumSet.noneOf(AccessFlag.class);
        all.addAll(rights);
        if (more) {
            all.add(AccessFlag.REMOTE_WRITE);
        }
        return all;
    }

    /// Internal memory for receives. A completion reports each message in it, so the order in which its bytes
    /// arrive does not matter.
    RdmaBuffer pool(long bytes) {
        Set<AccessFlag> access = EnumSet.of(AccessFlag.LOCAL_WRITE);
        if (settings.buffers().access().contains(AccessFlag.RELAXED_ORDERING)) {
            access.add(AccessFlag.RELAXED_ORDERING);
        }
        return register("receives", bytes, access, bytes, 1, () -> domain.allocate(bytes, access));
    }

    /// Internal memory of a channel for `count` messages of at most `bytes` that it sends.
    RdmaBuffer copies(int bytes, int count) {
        long all = (long) bytes * count;
        return register("copies", all, Set.of(), bytes, count, () -> domain.allocate(all, Set.of()));
    }

    /// Internal memory of an endpoint: the cells that peers write to. No completion reports these WRITEs, so
    /// their order matters.
    RdmaBuffer cells(long bytes) {
        return register("cells", bytes, CELL_ACCESS, bytes, 1, () -> domain.allocate(bytes, CELL_ACCESS));
    }

    private void checkName(String name) {
        Bounds.text("buffer name", name, MAX_NAME);
        buffers.values().removeIf(buffer -> !buffer.isOpen());
        if (buffers.containsKey(name)) {
            throw duplicate(name);
        }
    }

    private RdmaBuffer keep(RdmaBuffer buffer) {
        if (buffers.putIfAbsent(buffer.name(), buffer) != null) {
            buffer.close();
            throw duplicate(buffer.name());
        }
        return buffer;
    }

    private static IllegalArgumentException duplicate(String name) {
        return new IllegalArgumentException("there is a buffer '" + name + "' in this session already");
    }

    /// Stops the threads and frees everything; the endpoints are closed by now.
    @Override
    public void close() {
        Closer.step(context, events::close);
        Closer.step(context, controlLoop::close);
        if (shared != null) {
            shared.stop();
        }
        if (eventLoop != null) {
            Closer.step(context, eventLoop::close);
        }
        if (receives != null) {
            Closer.step(context, receives::close);
        }
        for (RdmaBuffer buffer : buffers.values()) {
            Closer.step(buffer, buffer::close);
        }
        Closer.step(control.name(), control::close);
        if (shared != null) {
            shared.close();
        }
        context.close();
        events.join();
    }
}
