package io.rdmacomm.ibverbs.objects;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.rdmacomm.ibverbs.ffm.MemoryLayouts;
import io.rdmacomm.ibverbs.ffm.NativeMemory;
import io.rdmacomm.ibverbs.structs.IbvFailure;
import io.rdmacomm.verbs.MemoryWindowType;
import io.rdmacomm.verbs.spi.MemoryWindowDriver;

/// A memory window (`struct ibv_mw`).
final class IbvMemoryWindow implements MemoryWindowDriver {
    private final NativeContext device;
    private final long handle;
    private long region;
    private volatile int lastKey;
    private volatile boolean freed;

    /// Allocates the struct (ibv_alloc_mw(3)).
    ///
    /// @param domain the address of the struct of the protection domain
    IbvMemoryWindow(NativeContext device, long domain, MemoryWindowType type) {
        this.device = device;
        this.handle = IbvFailure.address(
                "allocate memory window (ibv_alloc_mw)",
                device.ops().allocateWindow(domain, type.code()),
                device.toString());
        device.windows().add(this);
    }

    /// Notes that it was bound to a region.
    ///
    /// @param to the handle of the region; 0 if it was unbound
    synchronized void bound(long to) {
        if (region != 0) {
            device.windows().count(region, -1);
        }
        region = to;
        if (to != 0) {
            device.windows().count(to, 1);
        }
    }

    /// The driver changes the key when it posts a binding.
    @Override
    public int remoteKey() {
        return freed
                ? lastKey
                : NativeMemory.at(handle, MemoryLayouts.WINDOW_BYTES).get(JAVA_INT, MemoryLayouts.WINDOW_REMOTE_KEY);
    }

    /// Writes the key into the struct, where the library reads the current one.
    synchronized void remoteKey(int key) {
        if (!freed) {
            NativeMemory.at(handle, MemoryLayouts.WINDOW_BYTES).set(JAVA_INT, MemoryLayouts.WINDOW_REMOTE_KEY, key);
        }
    }

    @Override
    public long handle() {
        return handle;
    }

    @Override
    public void close() {
        synchronized (this) {
            lastKey = remoteKey();
            freed = true;
            device.windows().remove(this);
        }
        IbvFailure.check(
                "deallocate memory window (ibv_dealloc_mw)", device.ops().deallocateWindow(handle), toString());
        bound(0);
    }

    @Override
    public String toString() {
        return "memory window 0x" + Integer.toHexString(remoteKey()) + " on " + device;
    }
}
