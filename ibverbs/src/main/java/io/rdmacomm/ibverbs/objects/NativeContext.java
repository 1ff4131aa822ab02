package io.rdmacomm.ibverbs.objects;

import io.rdmacomm.ibverbs.ffm.ContextOps;
import io.rdmacomm.ibverbs.ffm.ExtendedOps;
import io.rdmacomm.ibverbs.ffm.LibIbverbs;
import io.rdmacomm.verbs.TransportType;
import io.rdmacomm.verbs.spi.DeviceDriver;
import io.rdmacomm.verbs.spi.DeviceValues;

/// The C side of an open device: the `struct ibv_context`, the library, the function pointers of the driver,
/// and the state that its objects share. Thread-safe. Its [#toString()] is the name of the device.
public final class NativeContext {
    private final DeviceDriver device;
    private final LibIbverbs library;
    private final long address;
    private final DeviceValues attributes;
    private final ContextOps ops;
    private final ExtendedOps extendedOps;
    private final OpenQueuePairs queuePairs = new OpenQueuePairs();
    private final Windows windows = new Windows();
    private final RetiredMemory retiredMemory = new RetiredMemory();
    private final OffsetRegions offsetRegions;

    /// @param device the device that was opened
    /// @param address the address of the struct
    /// @param attributes the attributes that the device reported when it was opened
    /// @param postsInUserSpace as in [KernelDriver]
    /// @param whyNoArrivalsAtOffsets as in [KernelDriver]
    NativeContext(
            DeviceDriver device,
            LibIbverbs library,
            long address,
            DeviceValues attributes,
            boolean postsInUserSpace,
            String whyNoArrivalsAtOffsets) {
        this.device = device;
        this.library = library;
        this.address = address;
        this.attributes = attributes;
        this.ops = new ContextOps(address, postsInUserSpace);
        this.extendedOps = new ExtendedOps(address);
        this.offsetRegions = new OffsetRegions(whyNoArrivalsAtOffsets);
    }

    /// libibverbs.
    public LibIbverbs library() {
        return library;
    }

    /// The address of the struct.
    public long address() {
        return address;
    }

    /// The transport of its messages.
    TransportType transport() {
        return device.transport();
    }

    /// The attributes that the device reported when it was opened.
    DeviceValues attributes() {
        return attributes;
    }

    /// The data path of the driver.
    ContextOps ops() {
        return ops;
    }

    /// The newer verbs of the control path.
    ExtendedOps extendedOps() {
        return extendedOps;
    }

    /// The open queue pairs.
    OpenQueuePairs queuePairs() {
        return queuePairs;
    }

    /// The open memory windows.
    Windows windows() {
        return windows;
    }

    /// The memory of closed regions.
    RetiredMemory retiredMemory() {
        return retiredMemory;
    }

    /// The open regions whose addresses in requests are not those of this process.
    OffsetRegions offsetRegions() {
        return offsetRegions;
    }

    @Override
    public String toString() {
        return device.name();
    }
}
