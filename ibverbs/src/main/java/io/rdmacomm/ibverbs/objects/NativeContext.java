package io.rdmacomm.ibverbs.objects;

import io.rdmacomm.ibverbs.ffm.ContextOps;
import io.rdmacomm.ibverbs.ffm.ExtendedOps;
import io.rdmacomm.ibverbs.ffm.LibIbverbs;
import io.rdmacomm.verbs.Resource;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/// The C side of an open device: the `struct ibv_context`, the library, the function pointers of the driver, and which
/// object belongs to which struct. Thread-safe.
public final class NativeContext {
    private final LibIbverbs library;
    private final long address;
    private final ContextOps ops;
    private final ExtendedOps extendedOps;
    private final Map<Long, Resource> objects = new ConcurrentHashMap<>();
    private final RetiredMemory retiredMemory = new RetiredMemory();
    private final OffsetRegions offsetRegions;

    /// @param address the address of the struct
    /// @param driver what is special about the kernel driver of the device
    public NativeContext(LibIbverbs library, long address, Driver driver) {
        this.library = library;
        this.address = address;
        this.ops = new ContextOps(address, driver.postsInUserSpace());
        this.extendedOps = new ExtendedOps(address);
        this.offsetRegions = new OffsetRegions(driver.whyNoArrivalsAtOffsets());
    }

    /// libibverbs.
    public LibIbverbs library() {
        return library;
    }

    /// The address of the struct.
    public long address() {
        return address;
    }

    /// The data path of the driver.
    ContextOps ops() {
        return ops;
    }

    /// The newer verbs of the control path.
    ExtendedOps extendedOps() {
        return extendedOps;
    }

    /// The memory of closed regions.
    RetiredMemory retiredMemory() {
        return retiredMemory;
    }

    /// The open regions whose addresses in requests are not those of this process.
    OffsetRegions offsetRegions() {
        return offsetRegions;
    }

    /// Notes which object belongs to the struct at `struct`: events name the struct.
    void add(long struct, Resource object) {
        objects.put(struct, object);
    }

    /// Forgets an object. To be called before its struct is freed: the next struct may have the same address.
    void remove(long struct) {
        objects.remove(struct);
    }

    /// The object whose struct is at `struct`; null if there is none.
    @Nullable
    Resource find(long struct) {
        return objects.get(struct);
    }
}
