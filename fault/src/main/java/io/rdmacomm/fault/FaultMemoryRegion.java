package io.rdmacomm.fault;

import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.ProtectionDomain;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// Stands for a memory region.
final class FaultMemoryRegion extends MemoryRegion {
    private final MemoryRegion real;

    FaultMemoryRegion(FaultProtectionDomain domain, MemoryRegion real, int access) {
        super(domain, real.segment(), access);
        this.real = real;
    }

    private FaultMemoryRegion(FaultProtectionDomain domain, MemoryRegion real, long length, int access) {
        super(domain, real.address(), length, access);
        this.real = real;
    }

    static FaultMemoryRegion ofDmaBuffer(FaultProtectionDomain domain, MemoryRegion real, int access) {
        return new FaultMemoryRegion(domain, real, real.length(), access);
    }

    MemoryRegion real() {
        return real;
    }

    @Override
    public int localKey() {
        return real.localKey();
    }

    @Override
    public int remoteKey() {
        return real.remoteKey();
    }

    @Override
    public long handle() {
        return real.handle();
    }

    @Override
    protected @Nullable String busyWith() {
        return whyBusy(real);
    }

    @Override
    protected void doReregister(
            @Nullable MemorySegment newSegment, @Nullable ProtectionDomain newDomain, int newAccess) {
        real.reregister(
                newSegment,
                newDomain instanceof FaultProtectionDomain domain ? domain.real() : null,
                newAccess == -1 ? null : AccessFlag.of(newAccess));
        reregistered(newSegment, newDomain, newAccess);
    }

    @Override
    protected void doClose() {
        real.close();
    }
}
