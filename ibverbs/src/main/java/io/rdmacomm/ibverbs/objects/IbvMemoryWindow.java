package io.rdmacomm.ibverbs.objects;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.rdmacomm.ibverbs.ffm.MemoryLayouts;
import io.rdmacomm.ibverbs.ffm.NativeMemory;
import io.rdmacomm.ibverbs.structs.IbvFailure;
import io.rdmacomm.verbs.MemoryWindow;
import io.rdmacomm.verbs.MemoryWindowType;
import io.rdmacomm.verbs.ProtectionDomain;
import org.jspecify.annotations.Nullable;

/// A memory window (`struct ibv_mw`).
final class IbvMemoryWindow extends MemoryWindow {
    private final NativeContext device;
    private final long handle;
    private @Nullable IbvMemoryRegion region;
    private volatile int lastKey;
    private volatile boolean freed;

    IbvMemoryWindow(NativeContext device, ProtectionDomain domain, MemoryWindowType type, long handle) {
        super(domain, type);
        this.device = device;
        this.handle = handle;
        device.add(handle, this);
    }

    /// Notes that it was bound to `to`, or unbound.
    synchronized void bound(@Nullable IbvMemoryRegion to) {
        if (region != null) {
            region.countWindow(-1);
        }
        region = to;
        if (to != null) {
            to.countWindow(1);
        }
    }

    /// The driver changes the key when it posts a binding.
    @Override
    public int remoteKey() {
        return freed
                ? lastKey
                : NativeMemory.at(handle, MemoryLayouts.WINDOW_BYTES).get(JAVA_INT, MemoryLayouts.WINDOW_REMOTE_KEY);
    }

    /// Writes the key into the struct, where the library looks for the current one.
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
    protected void doClose() {
        String subject = toString();
        synchronized (this) {
            lastKey = remoteKey();
            freed = true;
            device.remove(handle);
        }
        IbvFailure.check(
                "deallocate memory window (ibv_dealloc_mw)", device.ops().deallocateWindow(handle), subject);
        bound(null);
    }
}
