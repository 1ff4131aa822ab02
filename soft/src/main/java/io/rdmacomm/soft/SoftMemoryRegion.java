package io.rdmacomm.soft;

import io.rdmacomm.soft.mapped.MappedFile;
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
/// reach.
final class SoftMemoryRegion implements MemoryRegionDriver {
    private static final String REGISTER = "register memory (ibv_reg_mr)";
    private static final String REREGISTER = "reregister memory (ibv_rereg_mr)";

    private final SoftContext context;
    private final @Nullable MappedFile mapped;
    private final long file;
    private volatile LocalRegion local;

    private SoftMemoryRegion(
            SoftContext context, int domain, MemorySegment segment, @Nullable MappedFile mapped, long file, int access)
            throws IOException {
        this.context = context;
        this.mapped = mapped;
        this.file = file;
        this.local = grant(context.memory().allocateKey(), domain, segment, access);
    }

    static SoftMemoryRegion allocate(SoftContext context, int domain, long bytes, int access) {
        long file = context.nextFile();
        try {
            MappedFile mapped = context.createRegionFile(file, bytes);
            try {
                return new SoftMemoryRegion(context, domain, mapped.segment(), mapped, file, access);
            } catch (IOException | RuntimeException e) {
                mapped.close();
                throw e;
            }
        } catch (IOException e) {
            throw context.noSpace(REGISTER, bytes + " bytes of shared memory", e);
        }
    }

    static SoftMemoryRegion register(SoftContext context, int domain, MemorySegment segment, int access) {
        try {
            return new SoftMemoryRegion(context, domain, segment, null, 0, access);
        } catch (IOException e) {
            throw context.noSpace(REGISTER, "a key", e);
        }
    }

    private LocalRegion grant(int key, int domain, MemorySegment segment, int access) {
        long address = AccessFlag.ZERO_BASED.in(access) ? 0 : segment.address();
        LocalRegion region = new LocalRegion(key, domain, access, address, segment, file, mapped);
        context.memory().add(region);
        return region;
    }

    /// @return whether nobody uses the memory any more
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
        if (segment != null && mapped != null) {
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
        revoke();
        context.memory().freeKey(before.key());
        local = grant(
                key,
                domain == null ? before.domain() : (int) domain.handle(),
                segment == null ? before.segment() : segment,
                access == -1 ? before.access() : access);
    }

    @Override
    public void close() {
        boolean idle = revoke();
        if (mapped != null) {
            context.sharedMemory().regionGone();
        }
        context.memory().freeKey(local.key());
        if (mapped != null) {
            try {
                mapped.close(idle);
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
