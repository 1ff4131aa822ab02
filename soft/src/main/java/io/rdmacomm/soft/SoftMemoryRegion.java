package io.rdmacomm.soft;

import io.rdmacomm.soft.memory.LocalRegion;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.service.Closer;
import io.rdmacomm.verbs.spi.MemoryRegionDriver;
import io.rdmacomm.verbs.spi.ProtectionDomainDriver;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// A memory region: a file in shared memory that peers map, a file of the program that peers map if they can, or
/// other memory of the program, which only this process can reach. If memory of an open region is registered
/// again, or a part of it, it is the same file, so that its keys are equivalent, and peers do not map it again.
final class SoftMemoryRegion implements MemoryRegionDriver {
    private static final String REGISTER = "register memory (ibv_reg_mr)";
    private static final String DEREGISTER = "deregister memory (ibv_dereg_mr)";
    private static final String REREGISTER = "reregister memory (ibv_rereg_mr)";

    private static final int LOCAL_WRITE = AccessFlag.LOCAL_WRITE.bit();

    private final SoftContext context;
    private final boolean ownsMemory;
    private @Nullable RegionFile file;
    /// Whether peers may have mapped the memory for their programs, which nobody can know.
    private boolean mayBeInViews;
    private @Nullable Arena mapping;
    private volatile LocalRegion local;

    private SoftMemoryRegion(
            SoftContext context,
            boolean ownsMemory,
            int domain,
            MemorySegment segment,
            @Nullable RegionFile file,
            int key,
            int access) {
        this.context = context;
        this.ownsMemory = ownsMemory;
        this.file = file;
        this.local = grant(key, domain, segment, access);
    }

    static SoftMemoryRegion allocate(SoftContext context, int domain, long bytes, int access) {
        try {
            int key = context.memory().allocateKey();
            RegionFile created = null;
            try {
                created = context.regionFiles().create(key, bytes);
            } finally {
                if (created == null) {
                    context.memory().freeKey(key);
                }
            }
            return of(context, true, domain, created.segment(), created, key, access);
        } catch (IOException e) {
            throw context.noSpace(REGISTER, bytes + " bytes of shared memory", e);
        }
    }

    static SoftMemoryRegion register(SoftContext context, int domain, MemorySegment segment, int access) {
        return register(context, false, domain, segment, access);
    }

    /// Registers a file of the program, and closes its mapping with the region.
    static SoftMemoryRegion map(SoftContext context, int domain, MemorySegment segment, Arena mapping, int access) {
        SoftMemoryRegion region = register(context, true, domain, segment, access);
        region.mapping = mapping;
        return region;
    }

    private static SoftMemoryRegion register(
            SoftContext context, boolean ownsMemory, int domain, MemorySegment segment, int access) {
        try {
            int key = context.memory().allocateKey();
            return of(context, ownsMemory, domain, segment, findFile(context, key, segment), key, access);
        } catch (IOException e) {
            throw context.noSpace(REGISTER, "a key", e);
        }
    }

    /// The file behind memory of the program; frees the key of its region if that fails.
    private static @Nullable RegionFile findFile(SoftContext context, int key, MemorySegment segment)
            throws IOException {
        boolean searched = false;
        try {
            RegionFile found = context.regionFiles().find(key, segment);
            searched = true;
            return found;
        } finally {
            if (!searched) {
                context.memory().freeKey(key);
            }
        }
    }

    /// @param file the file that the region uses, or null
    private static SoftMemoryRegion of(
            SoftContext context,
            boolean ownsMemory,
            int domain,
            MemorySegment segment,
            @Nullable RegionFile file,
            int key,
            int access)
            throws IOException {
        boolean made = false;
        try {
            SoftMemoryRegion region = new SoftMemoryRegion(context, ownsMemory, domain, segment, file, key, access);
            made = true;
            return region;
        } finally {
            if (!made) {
                context.memory().freeKey(key);
                if (file != null) {
                    context.regionFiles().release(file, false);
                }
            }
        }
    }

    private LocalRegion grant(int key, int domain, MemorySegment segment, int access) {
        mayBeInViews |= AccessFlag.DIRECT_VIEW.in(access);
        long address = AccessFlag.ZERO_BASED.in(access) ? 0 : segment.address();
        RegionFile in = file;
        LocalRegion region =
                new LocalRegion(key, domain, access, address, segment, in == null ? null : in.place(segment));
        context.memory().add(region);
        return region;
    }

    /// @return whether the memory is no longer used
    private boolean revoke() {
        context.objects().placeArrived(local);
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
        RegionFile next;
        try {
            key = context.memory().allocateKey();
            // First: the new memory may be another part of the same file.
            next = segment == null ? null : findFile(context, key, segment);
        } catch (IOException e) {
            throw context.noSpace(REREGISTER, "a key", e);
        }
        boolean idle = revoke();
        freeKey();
        if (segment != null) {
            releaseFile(idle);
            file = next;
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
        freeKey();
        boolean free;
        try {
            free = releaseFile(idle);
        } finally {
            // A peer that was stopped has a mapping of its own.
            if (mapping != null) {
                // It fails while a system call of the program uses the memory, which then stays.
                Closer.step(this, mapping::close);
            }
        }
        if (!free && !idle) {
            throw new VerbException(
                    DEREGISTER,
                    Errno.ETIMEDOUT,
                    "a process that was stopped may still write to the memory of " + this
                            + "; do not use that memory again");
        }
    }

    /// Frees the key, unless it stands for the file.
    private void freeKey() {
        RegionFile in = file;
        if (in == null || in.key() != local.key()) {
            context.memory().freeKey(local.key());
        }
    }

    /// @param idle whether no thread or peer uses the memory through this region
    /// @return whether the memory ends with the region: no other region has it, and it is not a file of the
    ///         program that peers may have mapped for writing
    private boolean releaseFile(boolean idle) {
        RegionFile had = file;
        file = null;
        boolean removed = true;
        if (had == null) {
            return removed;
        }
        try {
            removed = context.regionFiles().release(had, idle && !mayBeInViews);
            return removed && !(had.isOfProgram() && local.allows(LOCAL_WRITE));
        } catch (IOException e) {
            throw new VerbException(DEREGISTER, Errno.EIO, "unmapping " + this, e);
        } finally {
            if (removed) {
                context.memory().forgetFile(had.key());
                context.memory().freeKey(had.key());
                context.network().regionGone();
            }
        }
    }

    @Override
    public String toString() {
        return "memory region 0x" + Integer.toHexString(localKey()) + " on " + context;
    }
}
