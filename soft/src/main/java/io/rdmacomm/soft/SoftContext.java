package io.rdmacomm.soft;

import io.rdmacomm.soft.cm.SoftConnectionManager;
import io.rdmacomm.soft.datagram.DatagramPort;
import io.rdmacomm.soft.datagram.DatagramSender;
import io.rdmacomm.soft.mapped.ControlFile;
import io.rdmacomm.soft.mapped.HostError;
import io.rdmacomm.soft.mapped.ShmDirectory;
import io.rdmacomm.soft.memory.LocalElements;
import io.rdmacomm.soft.memory.LocalMemory;
import io.rdmacomm.soft.roce.RocePort;
import io.rdmacomm.soft.shm.SharedMemory;
import io.rdmacomm.soft.tcp.CallListener;
import io.rdmacomm.soft.tcp.TcpNode;
import io.rdmacomm.soft.transport.Destination;
import io.rdmacomm.soft.transport.Engine;
import io.rdmacomm.soft.transport.QueuePairResources;
import io.rdmacomm.soft.transport.Retries;
import io.rdmacomm.soft.transport.Transport;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.PathMtu;
import io.rdmacomm.verbs.QueuePairAttribute;
import io.rdmacomm.verbs.QueuePairAttributes;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.spi.CompletionChannelDriver;
import io.rdmacomm.verbs.spi.CompletionQueueDriver;
import io.rdmacomm.verbs.spi.ConnectionManagerDriver;
import io.rdmacomm.verbs.spi.ContextDriver;
import io.rdmacomm.verbs.spi.DeviceValues;
import io.rdmacomm.verbs.spi.DriverEvent;
import io.rdmacomm.verbs.spi.PortValues;
import io.rdmacomm.verbs.spi.ProtectionDomainDriver;
import io.rdmacomm.verbs.spi.QueuePairDriver;
import io.rdmacomm.verbs.spi.WaitGroupDriver;
import java.io.IOException;
import java.net.BindException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// An open software device: a folder in shared memory, its control file, its keys, its peers and its engine.
final class SoftContext implements ContextDriver {
    private static final int MOST_PORTS = 100;
    private static final int MOST_NUMBERS = 100;

    private final DeviceSettings settings;
    private final Gid gid;
    private final ShmDirectory directory;
    private final ControlFile control;
    private final LocalMemory memory;
    private final Engine engine;
    private final Retries retries;
    private final ContextObjects objects = new ContextObjects(this);
    private final SharedMemory sharedMemory;
    private final TcpNode tcp;
    private final @Nullable RocePort roce;
    private final SoftAsyncEvents asyncEvents = new SoftAsyncEvents();
    private final RegionFiles regionFiles;
    private final AddressHandles addressHandles = new AddressHandles();
    private @Nullable DatagramPort datagramPort;
    private volatile boolean failed;
    private volatile boolean closing;

    private SoftContext(
            DeviceSettings settings, ShmDirectory directory, ControlFile control, @Nullable CallListener listener)
            throws IOException {
        this.settings = settings;
        this.gid = settings.gid();
        this.directory = directory;
        this.regionFiles = new RegionFiles(directory);
        this.control = control;
        this.memory = new LocalMemory(control);
        this.engine = new Engine(settings.name() + "-" + lid(), this::onTime, objects::deviceFailed);
        this.retries = new Retries(engine::wakeup);
        boolean complete = false;
        try {
            this.sharedMemory = new SharedMemory(directory, gid, control, memory, engine, objects);
            this.tcp = new TcpNode(
                    settings.tcp(), gid, lid(), memory, engine, listener, objects::endpoint, objects::onLimit);
            this.roce =
                    settings.roce() ? new RocePort(settings.tcp().address(), memory, engine, objects::onLimit) : null;
            engine.start();
            complete = true;
        } finally {
            if (!complete) {
                engine.close();
            }
        }
    }

    static SoftContext open(DeviceSettings settings) {
        try {
            for (int tries = 1; ; tries++) {
                try {
                    return openInFolder(settings);
                } catch (BindException e) {
                    // Some other program has the port of this LID.
                    if (tries == MOST_PORTS) {
                        throw e;
                    }
                }
            }
        } catch (IOException e) {
            throw HostError.of(e, Errno.ENOSPC).failure("open device " + settings.name(), "", e);
        }
    }

    private static SoftContext openInFolder(DeviceSettings settings) throws IOException {
        ShmDirectory directory = ShmDirectory.claim();
        SoftContext context = null;
        try {
            context = open(settings, directory);
            return context;
        } finally {
            if (context == null) {
                directory.close();
            }
        }
    }

    private static SoftContext open(DeviceSettings settings, ShmDirectory directory) throws IOException {
        CallListener listener =
                settings.roce() ? null : CallListener.open(settings.tcp().address(), directory.lid());
        ControlFile control = null;
        SoftContext context = null;
        try {
            Gid gid = settings.gid();
            control = ControlFile.create(directory, gid.high(), gid.low());
            if (settings.sharedMemory()) {
                control.share();
            }
            context = new SoftContext(settings, directory, control, listener);
            return context;
        } finally {
            if (context == null) {
                if (listener != null) {
                    listener.close();
                }
                if (control != null) {
                    control.close();
                }
            }
        }
    }

    /// The failure of a call for which the host, or the control file, has no room.
    VerbException noSpace(String operation, String what, IOException cause) {
        return HostError.of(cause, Errno.ENOMEM).failure(operation, "no room for " + what, cause);
    }

    /// The engine has ended, so this context no longer notices its peers.
    void fail() {
        failed = true;
    }

    /// Refuses what would need the engine, if it has ended.
    void checkWorks(String operation) {
        if (failed) {
            throw new VerbException(
                    operation,
                    Errno.EIO,
                    settings.name()
                            + " has failed (DEVICE_FATAL; the log says why); close this context and open another");
        }
    }

    /// Refuses a change of a queue pair that no kind of queue pair of this device can make.
    void checkChange(QueuePairDriver queuePair, QueuePairState to, QueuePairAttributes change) {
        String operation = "modify queue pair (ibv_modify_qp)";
        if (change.has(QueuePairAttribute.PORT) && change.port() != 1) {
            throw new VerbException(
                    operation, Errno.EINVAL, queuePair + ": there is only port 1, not " + change.port());
        }
        if (roce != null && change.has(QueuePairAttribute.ADDRESS_VECTOR)) {
            roce.checkPath(operation, queuePair, change.addressVector());
        }
        if (to != QueuePairState.ERROR && to != QueuePairState.RESET) {
            checkWorks(operation);
        }
    }

    /// The number of this context. Over RoCE, peers do not see it.
    int lid() {
        return directory.lid();
    }

    /// The side towards peers that it reaches with RoCE packets; null if it has other transports.
    @Nullable
    RocePort roce() {
        return roce;
    }

    Gid gid() {
        return gid;
    }

    /// Whether its user has not begun to close it.
    boolean isOpen() {
        return !closing;
    }

    ControlFile control() {
        return control;
    }

    /// The memory that was registered.
    LocalMemory memory() {
        return memory;
    }

    /// The objects of this context, by number.
    ContextObjects objects() {
        return objects;
    }

    /// The side towards peers on this host.
    SharedMemory sharedMemory() {
        return sharedMemory;
    }

    /// The side towards peers on the network.
    TcpNode tcp() {
        return tcp;
    }

    Retries retries() {
        return retries;
    }

    Engine engine() {
        return engine;
    }

    SoftAsyncEvents asyncEvents() {
        return asyncEvents;
    }

    /// Whether it reaches other contexts of this host over shared memory, and they it.
    boolean sharesMemory() {
        return settings.sharedMemory();
    }

    /// A transport that needs no connection: over RoCE, or over shared memory if the peer is on this host and may be
    /// reached that way; else null. A context always reaches itself.
    @Nullable
    Transport connect(QueuePairResources queuePair) {
        if (roce != null) {
            return roce.connect(queuePair);
        }
        Destination destination = queuePair.destination();
        boolean allowed = settings.sharedMemory()
                || (destination.lid() == lid() && destination.gid().equals(gid));
        return allowed ? sharedMemory.connect(queuePair) : null;
    }

    /// A number for a queue pair, or 0 when there is none.
    int allocateNumber() {
        int number = objects.numbers().allocate();
        // Another context of this process may have it at the same address.
        for (int tries = 0; roce != null && roce.isTaken(number) && tries < MOST_NUMBERS && number != 0; tries++) {
            objects.numbers().free(number);
            number = objects.numbers().allocate();
        }
        return number;
    }

    AddressHandles addressHandles() {
        return addressHandles;
    }

    /// Begins to receive datagrams, with the first queue pair for them.
    ///
    /// @throws IOException if the port is taken, this host has no such address, or there is no socket left
    synchronized void openDatagramPort() throws IOException {
        if (datagramPort == null) {
            datagramPort = new DatagramPort(
                    settings.tcp().address(), lid(), gid, SoftLimits.MTU.bytes(), engine, objects::datagramTarget);
        }
    }

    /// The sender of the datagrams of a queue pair.
    DatagramSender datagramSender(int number, int domain, LocalElements elements) throws IOException {
        return new DatagramSender(
                settings.tcp().address(),
                lid(),
                SoftLimits.MTU.bytes(),
                number,
                domain,
                elements,
                addressHandles::find);
    }

    /// The files of its regions.
    RegionFiles regionFiles() {
        return regionFiles;
    }

    private long onTime() {
        long soonest = Math.min(Math.min(retries.onTime(), sharedMemory.onTime()), tcp.onTime());
        return roce == null ? soonest : Math.min(soonest, roce.onTime());
    }

    @Override
    public ConnectionManagerDriver openConnectionManager() {
        checkWorks("open connection manager");
        return new SoftConnectionManager(
                toString(), settings.tcp(), gid, lid(), new NeighbourContexts(this), objects::endpoint);
    }

    @Override
    public boolean supports(Capability capability) {
        return SoftLimits.supports(capability, roce != null);
    }

    @Override
    public DeviceValues queryDevice() {
        return SoftLimits.device(settings.guid());
    }

    @Override
    public PortValues queryPort(int number) {
        checkPort("query port (ibv_query_port)", number, 0);
        if (roce == null) {
            return SoftLimits.port(lid());
        }
        PortValues values = SoftLimits.port(0);
        values.activeMtu = PathMtu.ofBytes(roce.mtu());
        values.maxMessageSize = RocePort.MOST_BYTES;
        return values;
    }

    @Override
    public Gid queryGid(int port, int index) {
        checkPort("query GID (ibv_query_gid)", port, index);
        return gid;
    }

    @Override
    public int queryPartitionKey(int port, int index) {
        checkPort("query partition key (ibv_query_pkey)", port, index);
        return 0xffff;
    }

    @Override
    public Map<String, Long> counters(int port) {
        return roce == null ? SoftCounters.of(retries, sharedMemory, tcp) : SoftCounters.of(retries, roce);
    }

    /// Refuses a port or an entry of its tables that does not exist.
    void checkPort(String operation, int port, int index) {
        if (port != 1 || index != 0) {
            throw new VerbException(
                    operation,
                    Errno.EINVAL,
                    "device " + this + " has port 1 with entry 0, not port " + port + ", entry " + index);
        }
    }

    @Override
    public ProtectionDomainDriver allocateProtectionDomain() {
        return new SoftProtectionDomain(this, objects.nextNumber());
    }

    @Override
    public CompletionChannelDriver createCompletionChannel() {
        int number = objects.nextNumber();
        SoftCompletionChannel channel = new SoftCompletionChannel(engine, toString(), number, objects::remove);
        objects.add(number, channel);
        return channel;
    }

    @Override
    public WaitGroupDriver createWaitGroup() {
        return new SoftWaitGroup(engine, toString(), objects::channel);
    }

    @Override
    public CompletionQueueDriver createCompletionQueue(
            int capacity, @Nullable CompletionChannelDriver channel, int vector) {
        return new SoftCompletionQueue(this, capacity, channel == null ? null : objects.channel(channel));
    }

    @Override
    public @Nullable DriverEvent awaitEvent(long timeoutNanos) throws InterruptedException {
        return asyncEvents.await(timeoutNanos);
    }

    @Override
    public void closing() {
        closing = true;
        asyncEvents.close();
    }

    private synchronized void closeDatagramPort() throws IOException {
        if (datagramPort != null) {
            datagramPort.close();
        }
    }

    @Override
    public void close() {
        try (directory) {
            if (roce != null) {
                roce.close();
            }
            engine.close();
            closeDatagramPort();
            tcp.close();
            sharedMemory.close();
            control.close();
        } catch (IOException e) {
            throw new VerbException("close device " + this, Errno.EIO, "removing its shared memory", e);
        }
    }

    @Override
    public String toString() {
        return settings.name();
    }
}
