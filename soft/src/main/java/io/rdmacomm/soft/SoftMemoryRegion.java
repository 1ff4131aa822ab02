package io.rdmacomm.soft;

import io.rdmacomm.soft.memory.LocalRegion;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.spi.MemoryRegionDriver;
import io.rdmacomm.verbs.spi.ProtectionDomainDriver;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// A memory region: a file in shared memory that peers map, or the caller's memory, which only this process can
/// reach. If memory of an open region is registered again, it is the same file, so that its keys are equivalent.
final class SoftMemoryRegion implements MemoryRegionDriver {
    private static final String REGISTER = "register memory (ibv_reg_mr)";
    private static final String REREGISTER = "reregister memory (ibv_rereg_mr)";

    private final SoftContext context;
    private final boolean ownsMemory;
    private @Nullable RegionFile file;
    private volatile LocalRegion local;

    private SoftMemoryRegion(
            SoftContext context,
            boolean ownsMemory,
            int domain,
            MemorySegment segment,
            @Nullable RegionFile file,
            int access)
            throws IOException {
        this.context = context;
        this.ownsMemory = ownsMemory;
        this.file = file;
        this.local = grant(context.memory().allocateKey(), domain, segment, access);
    }

    static SoftMemoryRegion allocate(SoftContext context, int domain, long bytes, int access) {
        try {
            RegionFile file = context.regionFiles().create(bytes);
            return of(context, true, domain, file.segment(), file, access);
        } catch (IOException e) {
            throw context.noSpace(REGISTER, bytes + " bytes of shared memory", e);
        }
    }

    static SoftMemoryRegion register(SoftContext context, int domain, MemorySegment segment, int access) {
        try {
            RegionFile file = context.regionFiles().share(segment);
            return of(context, false, domain, segment, file, access);
        } catch (IOException e) {
            throw context.noSpace(REGISTER, "a key", e);
        }
    }

    /// @param file the file that the region uses, or null
    private static SoftMemoryRegion of(
            SoftContext context,
            boolean ownsMemory,
            int domain,
            MemorySegment segment,
            @Nullable RegionFile file,
            int access)
            throws IOException {
        boolean made = false;
        try {
            SoftMemoryRegion region = new SoftMemoryRegion(context, ownsMemory, domain, segment, file, access);
            made = true;
            return region;
        } finally {
            if (!made && file != null) {
                context.regionFiles().release(file, false);
            }
        }
    }

    private LocalRegion grant(int key, int domain, MemorySegment segment, int access) {
        long address = AccessFlag.ZERO_BASED.in(access) ? 0 : segment.address();
        RegionFile in = file;
        LocalRegion region = new LocalRegion(
                key, domain, access, address, segment, in == null ? 0 : in.number(), in == null ? null : in.mapped());
        context.memory().add(region);
        return region;
    }

    /// @return whether the memory is no longer used
    private boolean revoke() {
        context.memory().remove(local);
        return context.objects().quiesce(local);
    }

    @Override
    public int localKey() {
        return local.key();
    }

    @Override
    public int remoteKey() {
        return local.key();
    }

    @Override
    public long handle() {
        return local.key();
    }

    @Override
    public MemorySegment segment() {
        return local.segment();
    }

    @Override
    public @Nullable String busyWith() {
        int bound = local.windows();
        return bound == 0 ? null : bound + " memory windows are bound to it; unbind or close them first";
    }

    @Override
    public void reregister(@Nullable MemorySegment segment, @Nullable ProtectionDomainDriver domain, int access) {
        LocalRegion before = local;
        if (segment != null && ownsMemory) {
            throw new VerbException(REREGISTER, Errno.EINVAL, this + " owns its memory, which cannot be replaced");
        }
        if (before.windows() > 0) {
            throw new VerbException(REREGISTER, Errno.EBUSY, this + " has windows bound to it");
        }
        int key;
        try {
            key = context.memory().allocateKey();
        } catch (IOException e) {
            throw context.noSpace(REREGISTER, "a key", e);
        }
        boolean idle = revoke();
        context.memory().freeKey(before.key());
        if (segment != null) {
            if (file != null) {
                context.network().regionGone();
            }
            releaseFile(idle);
            file = context.regionFiles().share(segment);
        }
        local = grant(
                key,
                domain == null ? before.domain() : (int) domain.handle(),
                segment == null ? before.segment() : segment,
                access == -1 ? before.access() : access);
    }

    @Override
    public void close() {
        boolean idle = revoke();
        if (file != null) {
            context.network().regionGone();
        }
        context.memory().freeKey(local.key());
        releaseFile(idle);
    }

    private void releaseFile(boolean idle) {
        RegionFile had = file;
        file = null;
        if (had != null) {
            try {
                context.regionFiles().release(had, idle);
            } catch (IOException e) {
                throw new VerbException("deregister memory (ibv_dereg_mr)", Errno.EIO, "unmapping " + this, e);
            }
        }
    }

    @Override
    public String toString() {
        return "memory region 0x" + Integer.toHexString(localKey()) + " on " + context;
    }
}
