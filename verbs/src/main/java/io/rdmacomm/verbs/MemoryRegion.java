package io.rdmacomm.verbs;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Memory that a device may use (`struct ibv_mr`, ibv_reg_mr(3)).
///
/// Its addresses are those of the memory in this process, unless it is ZERO_BASED. A region that is closed while
/// work refers to it makes that work fail with a protection error; it never crashes. Usable from any thread.
public abstract class MemoryRegion extends Resource {
    private static final String REREGISTER = "reregister memory (ibv_rereg_mr)";

    private volatile ProtectionDomain protectionDomain;
    private volatile MemorySegment segment;
    private volatile int access;

    /// For providers.
    ///
    /// @param access the bits of [AccessFlag]
    protected MemoryRegion(ProtectionDomain protectionDomain, MemorySegment segment, int access) {
        super(protectionDomain);
        this.protectionDomain = protectionDomain;
        this.segment = segment;
        this.access = access;
    }

    /// The protection domain it is registered in, which it is closed with; [#reregister] can change it.
    public final ProtectionDomain protectionDomain() {
        return protectionDomain;
    }

    /// The memory itself.
    public final MemorySegment segment() {
        return segment;
    }

    /// Where the region begins for scatter/gather elements and for peers.
    public final long address() {
        return AccessFlag.ZERO_BASED.in(access) ? 0 : segment.address();
    }

    /// Its length in bytes.
    public final long length() {
        return segment.byteSize();
    }

    /// The key that local scatter/gather elements carry.
    public abstract int localKey();

    /// The key that a peer needs.
    public abstract int remoteKey();

    /// What may be done to it besides local reading.
    public final Set<AccessFlag> access() {
        return AccessFlag.of(access);
    }

    /// [#access] as bits, for providers.
    protected final int accessMask() {
        return access;
    }

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
    /// @throws VerbException EINVAL if the rights are inconsistent, the protection domain is of another context or
    ///         memory that the region owns would be replaced
    public final void reregister(
            @Nullable MemorySegment newSegment,
            @Nullable ProtectionDomain newDomain,
            @Nullable Set<AccessFlag> newAccess) {
        checkOpen();
        if (!protectionDomain.context().supports(Capability.REREGISTER_MEMORY)) {
            throw new UnsupportedVerbException(
                    REREGISTER,
                    Capability.REREGISTER_MEMORY,
                    protectionDomain.context().device().name());
        }
        if (newDomain != null) {
            newDomain.checkOpen();
            if (!newDomain.context().equals(protectionDomain.context())) {
                throw new VerbException(
                        REREGISTER, Errno.EINVAL, "its protection domain is not of " + protectionDomain.context());
            }
        }
        doReregister(newSegment, newDomain, newAccess == null ? -1 : ProtectionDomain.checkedAccess(newAccess));
    }

    /// Changes the region for [#reregister] and says so with [#reregistered]; access is -1 when it stays.
    protected abstract void doReregister(
            @Nullable MemorySegment newSegment, @Nullable ProtectionDomain newDomain, int newAccess);

    /// For providers, in [#doReregister]: what this object says of the region is what is new from now on.
    protected final void reregistered(
            @Nullable MemorySegment newSegment, @Nullable ProtectionDomain newDomain, int newAccess) {
        segment = newSegment == null ? segment : newSegment;
        access = newAccess == -1 ? access : newAccess;
        if (newDomain != null) {
            protectionDomain = newDomain;
            moveTo(newDomain);
        }
    }

    @Override
    public final String toString() {
        return "memory region 0x" + Integer.toHexString(localKey()) + " on " + protectionDomain.context();
    }
}
