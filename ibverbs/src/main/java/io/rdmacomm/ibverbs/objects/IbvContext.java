package io.rdmacomm.ibverbs.objects;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.rdmacomm.ibverbs.cm.IbvConnectionManager;
import io.rdmacomm.ibverbs.ffm.AbsentLibraryException;
import io.rdmacomm.ibverbs.ffm.ContextLayout;
import io.rdmacomm.ibverbs.ffm.NativeLibraries;
import io.rdmacomm.ibverbs.ffm.NativeMemory;
import io.rdmacomm.ibverbs.structs.IbvFailure;
import io.rdmacomm.verbs.AsyncEvent;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.CompletionChannel;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Device;
import io.rdmacomm.verbs.DeviceAttributes;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.GidEntry;
import io.rdmacomm.verbs.LinkLayer;
import io.rdmacomm.verbs.PortAttributes;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.TransportType;
import io.rdmacomm.verbs.cm.ConnectionManager;
import io.rdmacomm.verbs.cm.ConnectionManagerProvider;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// An open device (`struct ibv_context`).
public final class IbvContext extends Context implements ConnectionManagerProvider {
    private final NativeLibraries libraries;
    private final NativeContext device;
    private final DeviceQueries queries;
    private final Driver driver;
    private final Set<Capability> capabilities;
    private final ResizeTrial resizing;
    private final DmaBufferTrial dmaBuffers;
    private final EventSource eventSource;
    private final AsyncEvents asyncEvents;

    /// @param address the address of the struct, which the context closes
    /// @param attributes what `queries` found
    /// @param driver what is special about the kernel driver of the device
    public IbvContext(
            Device device,
            NativeLibraries libraries,
            long address,
            DeviceQueries queries,
            DeviceAttributes attributes,
            Driver driver) {
        super(device);
        this.libraries = libraries;
        this.device = new NativeContext(libraries.verbs(), address, driver);
        this.queries = queries;
        this.driver = driver;
        this.capabilities = IbvCapabilities.of(
                device.transport(), attributes, libraries.verbs().takesOptions());
        this.capabilities.removeAll(driver.missing());
        if (!driver.whyNoArrivalsAtOffsets().isEmpty()) {
            this.capabilities.remove(Capability.ARRIVAL_AT_OFFSETS);
        }
        this.resizing = new ResizeTrial(this.device);
        this.dmaBuffers = new DmaBufferTrial(this.device);
        int file = NativeMemory.at(address, ContextLayout.BYTES).get(JAVA_INT, ContextLayout.ASYNC_FILE);
        this.eventSource = new EventSource(file, device.name());
        this.asyncEvents = new AsyncEvents(this.device, eventSource);
    }

    @Override
    public boolean supports(Capability capability) {
        return switch (capability) {
            case CONNECTION_MANAGER -> whyNoConnectionManager().isEmpty();
            case RESIZE_COMPLETION_QUEUE -> capabilities.contains(capability) && resizing.isPossible();
            case DMA_BUFFER -> dmaBuffers.isPossible();
            default -> capabilities.contains(capability);
        };
    }

    @Override
    public String whyNoConnectionManager() {
        TransportType transport = device().transport();
        if (transport != TransportType.INFINIBAND && transport != TransportType.IWARP) {
            return "no connections on a device of type " + transport;
        }
        try {
            libraries.connections();
            return "";
        } catch (AbsentLibraryException e) {
            return e.reason();
        }
    }

    @Override
    public ConnectionManager openConnectionManager() {
        try {
            return adopt(new IbvConnectionManager(this, libraries.connections(), driver.connectPauseNanos()));
        } catch (AbsentLibraryException e) {
            throw new IllegalStateException("librdmacm was there before: " + e.reason(), e);
        }
    }

    @Override
    protected DeviceAttributes doQueryDevice() {
        return queries.device();
    }

    @Override
    protected PortAttributes doQueryPort(int number) {
        return queries.port(number);
    }

    @Override
    protected Gid doQueryGid(int port, int index) {
        return queries.gid(port, index);
    }

    @Override
    protected List<GidEntry> doQueryGidTable(int port) {
        List<GidEntry> table = queries.gidTable(port);
        if (table != null) {
            return table;
        }
        boolean infiniband = queries.port(port).linkLayer() == LinkLayer.INFINIBAND;
        return new GidTypeFiles(PortCounters.folder(device().name(), port))
                .typed(super.doQueryGidTable(port), infiniband);
    }

    @Override
    protected int doQueryPartitionKey(int port, int index) {
        return queries.partitionKey(port, index);
    }

    @Override
    protected Map<String, Long> doQueryCounters(int port) {
        return PortCounters.read(device().name(), port);
    }

    @Override
    protected ProtectionDomain doAllocateProtectionDomain() {
        return new IbvProtectionDomain(device, this, driver);
    }

    @Override
    protected CompletionChannel doCreateCompletionChannel() {
        return new IbvCompletionChannel(device, this);
    }

    @Override
    protected CompletionQueue doCreateCompletionQueue(CompletionQueueOptions options) {
        return driver.createCompletionQueue(device, this, options);
    }

    @Override
    protected @Nullable AsyncEvent doAwaitAsyncEvent(long timeoutNanos) throws InterruptedException {
        return asyncEvents.await(timeoutNanos, toString());
    }

    @Override
    protected void onClosing() {
        eventSource.wake();
    }

    @Override
    protected void doCloseDevice() {
        eventSource.close();
        try {
            driver.release(device, toString());
        } finally {
            IbvFailure.check(
                    "close device (ibv_close_device)", device.library().closeDevice(device.address()), toString());
        }
    }
}
