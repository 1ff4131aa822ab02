package io.rdmacomm.verbs;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Memory that a device may use (`struct ibv_mr`, ibv_reg_mr(3)).
///
/// Its addresses are those of the memory in this process, unless it is ZERO_BASED. A region that is closed while
/// work refers to it makes that work fail with a protection error; it never crashes. Usable from any thread.
public abstract class MemoryRegion extends Resource {
    private final ProtectionDomain protectionDomain;

    /// For providers.
    protected MemoryRegion(ProtectionDomain protectionDomain) {
        super(protectionDomain);
        this.protectionDomain = protectionDomain;
    }

    /// The protection domain it was registered in; [#reregister] can change it.
    public ProtectionDomain protectionDomain() {
        return protectionDomain;
    }

    /// The memory itself.
    public abstract MemorySegment segment();

    /// Where the region begins for scatter/gather elements and for peers.
    public abstract long address();

    /// Its length in bytes.
    public abstract long length();

    /// The key that local scatter/gather elements carry.
    public abstract int localKey();

    /// The key that a peer needs.
    public abstract int remoteKey();

    /// What may be done to it besides local reading.
    public abstract Set<AccessFlag> access();

    /// The provider's handle; the address of the C struct where there is one.
    public abstract long handle();

    /// The whole region as a peer names it in one-sided operations.
    public final RemoteMemory remote() {
        return new RemoteMemory(address(), length(), remoteKey());
    }

    /// Changes the memory, the protection domain or the rights of the region (ibv_rereg_mr(3)); what is null
    /// stays. The keys may change. Work in flight on the region fails.
    ///
    /// @throws UnsupportedVerbException if the device cannot do this
    /// @throws RdmaException EINVAL if the rights are inconsistent or memory that the region owns would be
    /// replaced
    public final void reregister(
            @Nullable MemorySegment segment, @Nullable ProtectionDomain domain, @Nullable Set<AccessFlag> access) {
        checkOpen();
        if (!protectionDomain.context().supports(Capability.REREGISTER_MEMORY)) {
            throw new UnsupportedVerbException(
                    "reregister memory (ibv_rereg_mr)",
                    Capability.REREGISTER_MEMORY,
                    protectionDomain.context().device().name());
        }
        doReregister(segment, domain, access == null ? -1 : ProtectionDomain.checkedAccess(access));
    }

    /// Changes the region for [#reregister]; access is -1 when it stays.
    protected abstract void doReregister(
            @Nullable MemorySegment segment, @Nullable ProtectionDomain domain, int access);

    @Override
    public final String toString() {
        return "memory region 0x" + Integer.toHexString(localKey()) + " on " + protectionDomain.context();
    }
}
