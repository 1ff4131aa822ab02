package io.rdmacomm.ibverbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.rdmacomm.ibverbs.ffm.ContextOps;
import io.rdmacomm.ibverbs.ffm.MemoryLayouts;
import io.rdmacomm.ibverbs.ffm.NativeMemory;
import io.rdmacomm.verbs.MemoryWindow;
import io.rdmacomm.verbs.MemoryWindowType;
import org.jspecify.annotations.Nullable;

/// A memory window (`struct ibv_mw`).
final class IbvMemoryWindow extends MemoryWindow {
    private final ContextOps ops;
    private final long handle;
    private @Nullable IbvMemoryRegion region;
    private volatile int lastKey;
    private volatile boolean freed;

    IbvMemoryWindow(IbvProtectionDomain domain, MemoryWindowType type, long handle) {
        super(domain, type);
        this.ops = domain.ibvContext().ops();
        this.handle = handle;
    }

    /// Notes that it was bound to `to`, or to nothing.
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

    @Override
    public long handle() {
        return handle;
    }

    @Override
    protected void doClose() {
        String subject = toString();
        lastKey = remoteKey();
        freed = true;
        IbvFailure.check("deallocate memory window (ibv_dealloc_mw)", ops.deallocateWindow(handle), subject);
        bound(null);
    }
}
