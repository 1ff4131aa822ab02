package io.rdmacomm.ibverbs.objects;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.rdmacomm.ibverbs.cm.IbvConnectionManager;
import io.rdmacomm.ibverbs.ffm.AbsentLibraryException;
import io.rdmacomm.ibverbs.ffm.ContextLayout;
import io.rdmacomm.ibverbs.ffm.NativeMemory;
import io.rdmacomm.ibverbs.ffm.RdmaLibraries;
import io.rdmacomm.ibverbs.structs.IbvFailure;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.GidEntry;
import io.rdmacomm.verbs.LinkLayer;
import io.rdmacomm.verbs.TransportType;
import io.rdmacomm.verbs.spi.CompletionChannelDriver;
import io.rdmacomm.verbs.spi.CompletionQueueDriver;
import io.rdmacomm.verbs.spi.ConnectionManagerDriver;
import io.rdmacomm.verbs.spi.ContextDriver;
import io.rdmacomm.verbs.spi.DeviceDriver;
import io.rdmacomm.verbs.spi.DeviceValues;
import io.rdmacomm.verbs.spi.DriverEvent;
import io.rdmacomm.verbs.spi.PortValues;
import io.rdmacomm.verbs.spi.ProtectionDomainDriver;
import io.rdmacomm.verbs.spi.WaitGroupDriver;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// An open device (`struct ibv_context`).
public final class IbvContext implements ContextDriver {
    private final DeviceDriver opened;
    private final RdmaLibraries libraries;
    private final NativeContext device;
    private final DeviceQueries queries;
    private final KernelDriver driver;
    private final Set<Capability> capabilities;
    private final ResizeTrial resizing;
    private final DmaBufferTrial dmaBuffers;
    private final EventSource eventSource;
    private final IbvAsyncEvents asyncEvents;

    /// @param opened the device
    /// @param address the address of the struct; this context closes it
    /// @param attributes the attributes that `queries` found
    /// @param driver the special cases of the device's kernel driver
    public IbvContext(
            DeviceDriver opened,
            RdmaLibraries libraries,
            long address,
            DeviceQueries queries,
            DeviceValues attributes,
            KernelDriver driver) {
        this.opened = opened;
        this.libraries = libraries;
        this.device = new NativeContext(
                opened,
                libraries.verbs(),
                address,
                attributes,
                driver.postsInUserSpace(),
                driver.whyNoArrivalsAtOffsets());
        this.queries = queries;
        this.driver = driver;
        this.capabilities = IbvCapabilities.of(
                device.transport(), attributes, libraries.verbs().takesOptions());
        this.capabilities.removeAll(driver.missing());
        if (!driver.whyNoArrivalsAtOffsets().isEmpty()) {
            this.capabilities.remove(Capability.ARRIVAL_AT_OFFSETS);
        }
        this.resizing = new ResizeTrial(device);
        this.dmaBuffers = new DmaBufferTrial(device);
        int file = NativeMemory.at(address, ContextLayout.BYTES).get(JAVA_INT, ContextLayout.ASYNC_FILE);
        this.eventSource = new EventSource(file, device.toString());
        this.asyncEvents = new IbvAsyncEvents(device, eventSource);
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
        TransportType transport = device.transport();
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
    public ConnectionManagerDriver openConnectionManager() {
        try {
            return new IbvConnectionManager(
                    opened,
                    device.attributes(),
                    device.queuePairs(),
                    libraries.connections(),
                    driver.connectPauseNanos());
        } catch (AbsentLibraryException e) {
            throw new IllegalStateException("librdmacm was there before: " + e.reason(), e);
        }
    }

    @Override
    public DeviceValues queryDevice() {
        return queries.device();
    }

    @Override
    public PortValues queryPort(int number) {
        return queries.port(number);
    }

    @Override
    public Gid queryGid(int port, int index) {
        return queries.gid(port, index);
    }

    @Override
    public List<GidEntry> queryGidTable(int port) {
        List<GidEntry> table = queries.gidTable(port);
        if (table != null) {
            return table;
        }
        boolean infiniband = queries.port(port).linkLayer == LinkLayer.INFINIBAND;
        return new GidTypeFiles(PortCounters.folder(device.toString(), port))
                .typed(ContextDriver.super.queryGidTable(port), infiniband);
    }

    @Override
    public int queryPartitionKey(int port, int index) {
        return queries.partitionKey(port, index);
    }

    @Override
    public Map<String, Long> counters(int port) {
        return PortCounters.read(device.toString(), port);
    }

    @Override
    public ProtectionDomainDriver allocateProtectionDomain() {
        return new IbvProtectionDomain(device, driver);
    }

    @Override
    public CompletionChannelDriver createCompletionChannel() {
        return new IbvCompletionChannel(device);
    }

    @Override
    public WaitGroupDriver createWaitGroup() {
        return new IbvWaitGroup(device);
    }

    @Override
    public CompletionQueueDriver createCompletionQueue(
            int capacity, @Nullable CompletionChannelDriver channel, int vector) {
        return driver.createCompletionQueue(device, capacity, channel == null ? 0 : channel.handle(), vector);
    }

    @Override
    public @Nullable DriverEvent awaitEvent(long timeoutNanos) throws InterruptedException {
        return asyncEvents.await(timeoutNanos);
    }

    @Override
    public void closing() {
        eventSource.wake();
    }

    @Override
    public void close() {
        eventSource.close();
        try {
            driver.release(device);
        } finally {
            IbvFailure.check(
                    "close device (ibv_close_device)", device.library().closeDevice(device.address()), toString());
        }
    }

    @Override
    public String toString() {
        return device.toString();
    }
}
