package io.rdmacomm.soft;

import io.rdmacomm.soft.mapped.MappedFile;
import io.rdmacomm.soft.memory.LocalRegion;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.VerbException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// A memory region: a file in shared memory that peers map, or the caller's memory, which only this process can
/// reach.
final class SoftMemoryRegion extends MemoryRegion {
    private static final String REGISTER = "register memory (ibv_reg_mr)";
    private static final String REREGISTER = "reregister memory (ibv_rereg_mr)";

    private final SoftContext context;
    private final @Nullable MappedFile mapped;
    private final long file;
    private volatile LocalRegion local;

    private SoftMemoryRegion(
            SoftProtectionDomain domain, MemorySegment segment, @Nullable MappedFile mapped, long file, int access)
            throws IOException {
        super(domain, segment, access);
        this.context = domain.softContext();
        this.mapped = mapped;
        this.file = file;
        this.local = grant(context.memory().allocateKey());
    }

    static SoftMemoryRegion allocate(SoftProtectionDomain domain, long bytes, int access) {
        SoftContext context = domain.softContext();
        long file = context.nextFile();
        try {
            MappedFile mapped = context.createRegionFile(file, bytes);
            try {
                return new SoftMemoryRegion(domain, mapped.segment(), mapped, file, access);
            } catch (IOException | RuntimeException e) {
                mapped.close();
                throw e;
            }
        } catch (IOException e) {
            throw context.noSpace(REGISTER, bytes + " bytes of shared memory", e);
        }
    }

    static SoftMemoryRegion register(SoftProtectionDomain domain, MemorySegment segment, int access) {
        try {
            return new SoftMemoryRegion(domain, segment, null, 0, access);
        } catch (IOException e) {
            throw domain.softContext().noSpace(REGISTER, "a key", e);
        }
    }

    private LocalRegion grant(int key) {
        int domain = ((SoftProtectionDomain) protectionDomain()).number();
        LocalRegion region = new LocalRegion(key, domain, accessMask(), address(), segment(), file, mapped);
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
    protected @Nullable String busyWith() {
        int bound = local.windows();
        return bound == 0 ? null : bound + " memory windows are bound to it; unbind or close them first";
    }

    @Override
    protected void doReregister(
            @Nullable MemorySegment newSegment, @Nullable ProtectionDomain newDomain, int newAccess) {
        if (newSegment != null && mapped != null) {
            throw new VerbException(REREGISTER, Errno.EINVAL, this + " owns its memory, which cannot be replaced");
        }
        if (local.windows() > 0) {
            throw new VerbException(REREGISTER, Errno.EBUSY, this + " has windows bound to it");
        }
        int key;
        try {
            key = context.memory().allocateKey();
        } catch (IOException e) {
            throw context.noSpace(REREGISTER, "a key", e);
        }
        revoke();
        context.memory().freeKey(local.key());
        reregistered(newSegment, newDomain, newAccess);
        local = grant(key);
    }

    @Override
    protected void doClose() {
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
}
