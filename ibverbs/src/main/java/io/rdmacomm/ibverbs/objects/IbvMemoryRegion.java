package io.rdmacomm.ibverbs.objects;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.rdmacomm.ibverbs.ffm.LibIbverbs;
import io.rdmacomm.ibverbs.ffm.MemoryLayouts;
import io.rdmacomm.ibverbs.ffm.NativeMemory;
import io.rdmacomm.ibverbs.structs.IbvFailure;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.TransportType;
import io.rdmacomm.verbs.VerbException;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/// A memory region (`struct ibv_mr`), and its memory when the region owns it. The memory is freed only after the device
/// has released it, and when no poll can write to it any more ([RetiredMemory]).
final class IbvMemoryRegion extends MemoryRegion {
    private static final String REGISTER = "register memory (ibv_reg_mr)";
    private static final String REREGISTER = "reregister memory (ibv_rereg_mr)";
    private static final long PAGE = 4096;

    private final NativeContext device;
    private final LibIbverbs library;
    private final long handle;
    private final @Nullable OwnedMemory owned;
    private final AtomicInteger windows = new AtomicInteger();
    private volatile int localKey;
    private volatile int remoteKey;

    /// @param owned the memory to free with the region; null if it is the caller's
    IbvMemoryRegion(
            NativeContext device,
            IbvProtectionDomain domain,
            MemorySegment segment,
            @Nullable OwnedMemory owned,
            int access) {
        super(domain, segment, access);
        this.device = device;
        this.library = device.library();
        this.owned = owned;
        this.handle = AccessFlag.ZERO_BASED.in(access)
                ? registerFromZero(library, domain, segment, access)
                : library.registerMemory(domain.address(), segment.address(), segment.byteSize(), access);
        if (handle <= 0) {
            throw IbvFailure.ofRegistration(REGISTER, (int) -handle, segment.byteSize(), domain.context());
        }
        readKeys();
    }

    static IbvMemoryRegion allocate(NativeContext device, IbvProtectionDomain domain, long bytes, int access) {
        OwnedMemory memory = OwnedMemory.allocate(bytes);
        if (memory == null) {
            throw new VerbException(REGISTER, Errno.ENOMEM, "there are no " + bytes + " bytes of memory");
        }
        boolean success = false;
        try {
            IbvMemoryRegion region = new IbvMemoryRegion(device, domain, memory.segment(), memory, access);
            success = true;
            return region;
        } finally {
            if (!success) {
                memory.close();
                memory.free();
            }
        }
    }

    /// Remote addresses that count from zero are memory registered at another remote address, 0.
    private static long registerFromZero(
            LibIbverbs library, IbvProtectionDomain domain, MemorySegment segment, int access) {
        Context context = domain.context();
        if (context.device().transport() == TransportType.IWARP || segment.address() % PAGE != 0) {
            throw new VerbException(
                    REGISTER,
                    Errno.EOPNOTSUPP,
                    "ZERO_BASED needs memory that begins at a page, and an InfiniBand or RoCE device; " + context
                            + " has " + context.device().transport());
        }
        int rights = access & ~AccessFlag.ZERO_BASED.bit();
        return library.registerMemoryAt(domain.address(), segment.address(), segment.byteSize(), 0, rights);
    }

    private void readKeys() {
        MemorySegment struct = NativeMemory.at(handle, MemoryLayouts.REGION_BYTES);
        localKey = struct.get(JAVA_INT, MemoryLayouts.REGION_LOCAL_KEY);
        remoteKey = struct.get(JAVA_INT, MemoryLayouts.REGION_REMOTE_KEY);
    }

    /// A window was bound to the region, or unbound from it.
    void countWindow(int difference) {
        windows.addAndGet(difference);
    }

    @Override
    public int localKey() {
        return localKey;
    }

    @Override
    public int remoteKey() {
        return remoteKey;
    }

    @Override
    public long handle() {
        return handle;
    }

    @Override
    protected @Nullable String busyWith() {
        int bound = windows.get();
        return bound == 0 ? null : bound + " memory windows are bound to it; unbind or close them first";
    }

    @Override
    protected void doReregister(
            @Nullable MemorySegment newSegment, @Nullable ProtectionDomain newDomain, int newAccess) {
        if (newSegment != null && owned != null) {
            throw new VerbException(REREGISTER, Errno.EINVAL, this + " owns its memory, which cannot be replaced");
        }
        int flags = (newSegment == null ? 0 : MemoryLayouts.REREGISTER_TRANSLATION)
                | (newDomain == null ? 0 : MemoryLayouts.REREGISTER_DOMAIN)
                | (newAccess == -1 ? 0 : MemoryLayouts.REREGISTER_ACCESS);
        if (flags == 0) {
            return;
        }
        int errno = library.reregisterMemory(
                handle,
                flags,
                newDomain == null ? 0 : ((IbvProtectionDomain) newDomain).address(),
                newSegment == null ? 0 : newSegment.address(),
                newSegment == null ? 0 : newSegment.byteSize(),
                newAccess == -1 ? 0 : newAccess);
        IbvFailure.check(
                REREGISTER,
                errno,
                Capability.REREGISTER_MEMORY,
                protectionDomain().context());
        reregistered(newSegment, newDomain, newAccess);
        readKeys();
    }

    @Override
    protected void doClose() {
        String subject = toString();
        // If the device keeps the region, its memory is not freed: a leak is better than a write into memory that
        // belongs to someone else by then.
        IbvFailure.check("deregister memory (ibv_dereg_mr)", library.deregisterMemory(handle), subject);
        if (owned != null) {
            owned.close();
            device.retiredMemory().add(owned);
        }
    }
}
