package io.rdmacomm.ibverbs.objects;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.rdmacomm.ibverbs.ffm.LibIbverbs;
import io.rdmacomm.ibverbs.ffm.MemoryLayouts;
import io.rdmacomm.ibverbs.ffm.NativeMemory;
import io.rdmacomm.ibverbs.structs.IbvFailure;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.VerbException;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/// A memory region (`struct ibv_mr`), and its memory when the region owns it. The memory is freed only after the device
/// has released it, and when no poll can write to it any more ([RetiredMemory]).
final class IbvMemoryRegion extends MemoryRegion {
    private static final String REREGISTER = "reregister memory (ibv_rereg_mr)";

    private final NativeContext device;
    private final LibIbverbs library;
    private final long handle;
    private final @Nullable OwnedMemory owned;
    private final AtomicInteger windows = new AtomicInteger();
    private volatile int localKey;
    private volatile int remoteKey;

    /// @param owned the memory to free with the region; null if it is the caller's
    /// @param handle the address of the struct
    private IbvMemoryRegion(
            NativeContext device,
            IbvProtectionDomain domain,
            MemorySegment segment,
            @Nullable OwnedMemory owned,
            int access,
            long handle) {
        super(domain, segment, access);
        this.device = device;
        this.library = device.library();
        this.owned = owned;
        this.handle = handle;
        readKeys();
        noteOffsets();
    }

    /// A DMA buffer.
    private IbvMemoryRegion(
            NativeContext device, IbvProtectionDomain domain, long address, long length, int access, long handle) {
        super(domain, address, length, access);
        this.device = device;
        this.library = device.library();
        this.owned = null;
        this.handle = handle;
        readKeys();
        noteOffsets();
    }

    static IbvMemoryRegion register(
            NativeContext device, IbvProtectionDomain domain, MemorySegment segment, int access) {
        long handle = Registration.of(device.library(), domain, segment, access);
        return new IbvMemoryRegion(device, domain, segment, null, access, handle);
    }

    /// Registers memory that the region frees, also if that fails.
    static IbvMemoryRegion allocate(NativeContext device, IbvProtectionDomain domain, OwnedMemory memory, int access) {
        boolean success = false;
        try {
            long handle = Registration.of(device.library(), domain, memory.segment(), access);
            success = true;
            return new IbvMemoryRegion(device, domain, memory.segment(), memory, access, handle);
        } finally {
            if (!success) {
                memory.close();
                memory.free();
            }
        }
    }

    static IbvMemoryRegion ofDmaBuffer(NativeContext device, IbvProtectionDomain domain, DmaBuffer buffer, int access) {
        long handle = Registration.of(device.library(), domain, buffer, access);
        return new IbvMemoryRegion(device, domain, buffer.address(), buffer.length(), access, handle);
    }

    private void readKeys() {
        MemorySegment struct = NativeMemory.at(handle, MemoryLayouts.REGION_BYTES);
        localKey = struct.get(JAVA_INT, MemoryLayouts.REGION_LOCAL_KEY);
        remoteKey = struct.get(JAVA_INT, MemoryLayouts.REGION_REMOTE_KEY);
    }

    private void noteOffsets() {
        if (isAtOffsets()) {
            device.offsetRegions().add(localKey);
        }
    }

    /// Whether its addresses in requests are not those of this process.
    private boolean isAtOffsets() {
        return !isMapped() || AccessFlag.ZERO_BASED.in(accessMask());
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
        checkStart(newSegment, newAccess);
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
                newAccess == -1 ? 0 : Registration.flags(library, newAccess));
        IbvFailure.check(
                REREGISTER,
                errno,
                Capability.REREGISTER_MEMORY,
                protectionDomain().context());
        reregistered(newSegment, newDomain, newAccess);
        int before = localKey;
        readKeys();
        if (isAtOffsets()) {
            noteOffsets();
            device.offsetRegions().remove(before);
        }
    }

    /// The device keeps the address at which the region begins for peers, or takes that of the new memory.
    private void checkStart(@Nullable MemorySegment newSegment, int newAccess) {
        boolean fromZero = AccessFlag.ZERO_BASED.in(accessMask());
        if ((newAccess != -1 && AccessFlag.ZERO_BASED.in(newAccess) != fromZero) || (fromZero && newSegment != null)) {
            throw new VerbException(
                    REREGISTER,
                    Errno.EINVAL,
                    this + (fromZero ? " is" : " is not")
                            + " ZERO_BASED, which stays so, with the same memory; register the memory again instead");
        }
    }

    @Override
    protected void doClose() {
        String subject = toString();
        // If the device keeps the region, its memory is not freed: a leak is better than a write into memory that
        // belongs to someone else by then.
        IbvFailure.check("deregister memory (ibv_dereg_mr)", library.deregisterMemory(handle), subject);
        if (isAtOffsets()) {
            device.offsetRegions().remove(localKey);
        }
        if (owned != null) {
            owned.close();
            device.retiredMemory().add(owned);
        }
    }
}
