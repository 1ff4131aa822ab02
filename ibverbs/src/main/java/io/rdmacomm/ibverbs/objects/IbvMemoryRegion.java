package io.rdmacomm.ibverbs.objects;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.rdmacomm.ibverbs.ffm.LibIbverbs;
import io.rdmacomm.ibverbs.ffm.MemoryLayouts;
import io.rdmacomm.ibverbs.ffm.NativeMemory;
import io.rdmacomm.ibverbs.structs.IbvFailure;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.spi.MemoryRegionDriver;
import io.rdmacomm.verbs.spi.ProtectionDomainDriver;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// A memory region (`struct ibv_mr`), and its memory if the region owns it. The memory is freed only after the
/// device has released it, and when no poll can write to it ([RetiredMemory]).
final class IbvMemoryRegion implements MemoryRegionDriver {
    private static final String REREGISTER = "reregister memory (ibv_rereg_mr)";

    private final NativeContext device;
    private final LibIbverbs library;
    private final long handle;
    private final @Nullable OwnedMemory owned;
    private final boolean fromZero;
    /// Whether its addresses in requests are not those of this process.
    private final boolean atOffsets;
    private volatile @Nullable MemorySegment segment;
    private volatile int localKey;
    private volatile int remoteKey;

    /// @param handle the address of the struct
    /// @param segment null for a DMA buffer
    /// @param owned the memory to free with the region; null if it is the caller's
    private IbvMemoryRegion(
            NativeContext device,
            long handle,
            @Nullable MemorySegment segment,
            @Nullable OwnedMemory owned,
            int access) {
        this.device = device;
        this.library = device.library();
        this.handle = handle;
        this.segment = segment;
        this.owned = owned;
        this.fromZero = AccessFlag.ZERO_BASED.in(access);
        this.atOffsets = segment == null || fromZero;
        readKeys();
        noteOffsets();
    }

    static IbvMemoryRegion register(NativeContext device, long domain, MemorySegment segment, int access) {
        long handle = IbvRegistration.of(device, domain, segment, access);
        return new IbvMemoryRegion(device, handle, segment, null, access);
    }

    /// Registers memory that the region owns, and frees it if that fails.
    static IbvMemoryRegion allocate(NativeContext device, long domain, OwnedMemory memory, int access) {
        boolean success = false;
        try {
            long handle = IbvRegistration.of(device, domain, memory.segment(), access);
            success = true;
            return new IbvMemoryRegion(device, handle, memory.segment(), memory, access);
        } finally {
            if (!success) {
                memory.close();
                memory.free();
            }
        }
    }

    /// Registers a file, whose mapping the region owns if that succeeds.
    static IbvMemoryRegion map(NativeContext device, long domain, MemorySegment file, Arena mapping, int access) {
        long handle = IbvRegistration.of(device, domain, file, access);
        return new IbvMemoryRegion(device, handle, file, OwnedMemory.ofFile(file, mapping), access);
    }

    static IbvMemoryRegion ofDmaBuffer(NativeContext device, long domain, DmaBuffer buffer, int access) {
        long handle = IbvRegistration.of(device, domain, buffer, access);
        return new IbvMemoryRegion(device, handle, null, null, access);
    }

    private void readKeys() {
        MemorySegment struct = NativeMemory.at(handle, MemoryLayouts.REGION_BYTES);
        localKey = struct.get(JAVA_INT, MemoryLayouts.REGION_LOCAL_KEY);
        remoteKey = struct.get(JAVA_INT, MemoryLayouts.REGION_REMOTE_KEY);
    }

    private void noteOffsets() {
        if (atOffsets) {
            device.offsetRegions().add(localKey);
        }
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
    public @Nullable MemorySegment segment() {
        return segment;
    }

    @Override
    public @Nullable String busyWith() {
        int bound = device.windows().boundTo(handle);
        return bound == 0 ? null : bound + " memory windows are bound to it; unbind or close them first";
    }

    @Override
    public void reregister(
            @Nullable MemorySegment newSegment, @Nullable ProtectionDomainDriver newDomain, int newAccess) {
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
                newDomain == null ? 0 : newDomain.handle(),
                newSegment == null ? 0 : newSegment.address(),
                newSegment == null ? 0 : newSegment.byteSize(),
                newAccess == -1 ? 0 : IbvRegistration.flags(library, newAccess));
        IbvFailure.check(REREGISTER, errno, Capability.REREGISTER_MEMORY, device.toString());
        if (newSegment != null) {
            segment = newSegment;
        }
        int before = localKey;
        readKeys();
        if (atOffsets) {
            noteOffsets();
            device.offsetRegions().remove(before);
        }
    }

    /// Checks the start address for peers: the device keeps it, or takes that of the new memory.
    private void checkStart(@Nullable MemorySegment newSegment, int newAccess) {
        if ((newAccess != -1 && AccessFlag.ZERO_BASED.in(newAccess) != fromZero) || (fromZero && newSegment != null)) {
            throw new VerbException(
                    REREGISTER,
                    Errno.EINVAL,
                    this + (fromZero ? " is" : " is not")
                            + " ZERO_BASED, which stays so, with the same memory; register the memory again instead");
        }
    }

    @Override
    public void close() {
        // If the device keeps the region, its memory is not freed: a leak is better than a write into memory that
        // has been reused.
        IbvFailure.check("deregister memory (ibv_dereg_mr)", library.deregisterMemory(handle), toString());
        if (atOffsets) {
            device.offsetRegions().remove(localKey);
        }
        if (owned != null) {
            owned.close();
            device.retiredMemory().add(owned);
        }
    }

    @Override
    public String toString() {
        return "memory region 0x" + Integer.toHexString(localKey) + " on " + device;
    }
}
