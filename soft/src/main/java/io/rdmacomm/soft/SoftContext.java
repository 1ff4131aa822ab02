package io.rdmacomm.soft;

import io.rdmacomm.soft.mapped.ControlFile;
import io.rdmacomm.soft.mapped.HostError;
import io.rdmacomm.soft.mapped.ShmDirectory;
import io.rdmacomm.soft.memory.LocalMemory;
import io.rdmacomm.soft.transport.Engine;
import io.rdmacomm.soft.transport.Retries;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.Gid;
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
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// An open software device: a folder in shared memory, its control file, its keys, its peers and its engine.
final class SoftContext implements ContextDriver {
    private static final int MOST_PORTS = 100;
    private static final int MOST_NUMBERS = 100;

    private final DeviceSettings settings;
    private final ShmDirectory directory;
    private final ControlFile control;
    private final LocalMemory memory;
    private final Bells bells;
    private final Engine engine;
    private final Retries retries;
    private final ContextObjects objects = new ContextObjects(this);
    private final Network network;
    private final SoftAsyncEvents asyncEvents = new SoftAsyncEvents();
    private final RegionFileTable regionFiles;
    private final AddressHandles addressHandles = new AddressHandles();
    private volatile boolean failed;
    private volatile boolean closing;

    private SoftContext(DeviceSettings settings, ShmDirectory directory, ControlFile control) throws IOException {
        this.settings = settings;
        this.directory = directory;
        this.regionFiles = new RegionFileTable(directory, settings.sharedMemory() && !settings.roce());
        this.control = control;
        this.memory = new LocalMemory(control);
        this.engine = new Engine(settings.name() + "-" + lid(), this::onTime, objects::deviceFailed);
        this.retries = new Retries(engine::wakeup);
        this.bells = new Bells(settings.roce() ? null : control, engine::wakeup);
        Network made = null;
        boolean complete = false;
        try {
            made = settings.roce()
                    ? new RoceNetwork(settings, memory, engine, objects)
                    : new IwarpNetwork(settings, directory, control, memory, engine, objects);
            this.network = made;
            engine.start();
            complete = true;
        } finally {
            if (!complete) {
                close(made);
            }
        }
    }

    /// @param made null if it could not be made
    private void close(@Nullable Network made) throws IOException {
        if (made != null) {
            made.closing();
        }
        engine.close();
        if (made != null) {
            made.close();
        }
    }

    static SoftContext open(DeviceSettings settings) {
        try {
            for (int tries = 1; ; tries++) {
                try {
                    return openInFolder(settings);
                } catch (BindException e) {
                    // Another program has the port of this LID.
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
        ControlFile control = null;
        SoftContext context = null;
        try {
            Gid gid = settings.gid();
            control = ControlFile.create(directory, gid.high(), gid.low());
            context = new SoftContext(settings, directory, control);
            return context;
        } finally {
            if (context == null && control != null) {
                control.close();
            }
        }
    }

    /// The exception for a call for which the host, or the control file, has no room.
    VerbException noSpace(String operation, String what, IOException cause) {
        return HostError.of(cause, Errno.ENOMEM).failure(operation, "no room for " + what, cause);
    }

    /// The engine has ended, so this context no longer notices its peers.
    void fail() {
        failed = true;
    }

    /// Rejects an operation that needs the engine, if the engine has ended.
    void checkWorks(String operation) {
        if (failed) {
            throw new VerbException(
                    operation,
                    Errno.EIO,
                    settings.name()
                            + " has failed (DEVICE_FATAL; the log says why); close this context and open another");
        }
    }

    /// Rejects a change that no queue pair of this device can make.
    void checkChange(QueuePairDriver queuePair, QueuePairState to, QueuePairAttributes change) {
        String operation = "modify queue pair (ibv_modify_qp)";
        if (change.has(QueuePairAttribute.PORT) && change.port() != 1) {
            throw new VerbException(
                    operation, Errno.EINVAL, queuePair + ": there is only port 1, not " + change.port());
        }
        if (change.has(QueuePairAttribute.ADDRESS_VECTOR)) {
            network.checkPath(operation, queuePair, change.addressVector());
        }
        if (to != QueuePairState.ERROR && to != QueuePairState.RESET) {
            checkWorks(operation);
        }
    }

    /// The number of this context. Over RoCE, peers do not see it.
    int lid() {
        return directory.lid();
    }

    /// Whether the program has not begun to close it.
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

    /// The bells of its channels and groups.
    Bells bells() {
        return bells;
    }

    /// The connection to its peers.
    Network network() {
        return network;
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

    /// A number for a queue pair, or 0 if there is none.
    int allocateNumber() {
        int number = objects.numbers().allocate();
        for (int tries = 0; number != 0 && !network.claimNumber(number); tries++) {
            objects.numbers().free(number);
            number = tries < MOST_NUMBERS ? objects.numbers().allocate() : 0;
        }
        return number;
    }

    /// Gives back the number of a queue pair that is gone.
    void freeNumber(int number) {
        network.releaseNumber(number);
        objects.numbers().free(number);
    }

    AddressHandles addressHandles() {
        return addressHandles;
    }

    /// The files of its regions.
    RegionFileTable regionFiles() {
        return regionFiles;
    }

    private long onTime() {
        return Math.min(Math.min(retries.onTime(), network.onTime()), bells.onTime());
    }

    @Override
    public ConnectionManagerDriver openConnectionManager() {
        checkWorks("open connection manager");
        return network.openConnectionManager();
    }

    @Override
    public boolean supports(Capability capability) {
        return network.supports(capability);
    }

    @Override
    public DeviceValues queryDevice() {
        DeviceValues values = SoftLimits.device(settings.guid());
        network.describe(values);
        return values;
    }

    @Override
    public PortValues queryPort(int number) {
        checkPort("query port (ibv_query_port)", number, 0);
        PortValues values = SoftLimits.port();
        network.describe(values);
        return values;
    }

    @Override
    public Gid queryGid(int port, int index) {
        checkPort("query GID (ibv_query_gid)", port, index);
        return settings.gid();
    }

    @Override
    public int queryPartitionKey(int port, int index) {
        checkPort("query partition key (ibv_query_pkey)", port, index);
        return 0xffff;
    }

    @Override
    public Map<String, Long> counters(int port) {
        Map<String, Long> counters = new HashMap<>(network.counters());
        counters.put("rnr_retries", retries.notReady());
        counters.put("missing_peer_retries", retries.missing());
        return Map.copyOf(counters);
    }

    /// Rejects a port or a table entry that does not exist.
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
        SoftCompletionChannel channel = new SoftCompletionChannel(engine, bells, toString(), number, objects::remove);
        objects.add(number, channel);
        return channel;
    }

    @Override
    public WaitGroupDriver createWaitGroup() {
        return new SoftWaitGroup(engine, bells, network.groupPlace(), toString(), objects::channel);
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

    @Override
    public void close() {
        try (directory) {
            close(network);
            bells.close();
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
