package io.rdmacomm.verbs;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Memory registered with a device (`struct ibv_mr`, ibv_reg_mr(3)).
///
/// Its addresses are those of the memory in this process, unless it is ZERO_BASED. If a region is closed while
/// work refers to it, that work fails with a protection error. Thread-safe.
public abstract class MemoryRegion extends Resource {
    private static final String REREGISTER = "reregister memory (ibv_rereg_mr)";

    /// Memory that this process has not mapped.
    ///
    /// @param address of its first byte, for the device
    /// @param length in bytes
    private record Elsewhere(long address, long length) {}

    private final @Nullable Elsewhere elsewhere;
    private volatile ProtectionDomain protectionDomain;
    private volatile MemorySegment segment;
    private volatile int access;

    /// For providers.
    ///
    /// @param access the bits of [AccessFlag]
    protected MemoryRegion(ProtectionDomain protectionDomain, MemorySegment segment, int access) {
        super(protectionDomain);
        this.elsewhere = null;
        this.protectionDomain = protectionDomain;
        this.segment = segment;
        this.access = access;
    }

    /// For providers: memory that this process has not mapped.
    ///
    /// @param address of its first byte in scatter/gather elements and for peers
    /// @param length in bytes
    /// @param access the bits of [AccessFlag]
    protected MemoryRegion(ProtectionDomain protectionDomain, long address, long length, int access) {
        super(protectionDomain);
        this.elsewhere = new Elsewhere(address, length);
        this.protectionDomain = protectionDomain;
        this.segment = MemorySegment.NULL;
        this.access = access;
    }

    /// The protection domain that it is registered in, and is closed with; [#reregister] can change it.
    public final ProtectionDomain protectionDomain() {
        return protectionDomain;
    }

    /// Whether the memory has a [#segment()] in this process: not that of a DMA buffer.
    public final boolean isMapped() {
        return elsewhere == null;
    }

    /// The memory itself.
    ///
    /// @throws UnsupportedOperationException if it is that of a DMA buffer
    public final MemorySegment segment() {
        if (elsewhere != null) {
            throw new UnsupportedOperationException(
                    this + " is a DMA buffer, which is not mapped here; map its file descriptor to access it");
        }
        return segment;
    }

    /// The address of the region in scatter/gather elements and for peers.
    public final long address() {
        Elsewhere other = elsewhere;
        if (other != null) {
            return other.address();
        }
        return AccessFlag.ZERO_BASED.in(access) ? 0 : segment.address();
    }

    /// Its length in bytes.
    public final long length() {
        Elsewhere other = elsewhere;
        return other == null ? segment.byteSize() : other.length();
    }

    /// The key for local scatter/gather elements.
    public abstract int localKey();

    /// The key that a peer needs.
    public abstract int remoteKey();

    /// The rights to use it, in addition to local reads.
    public final Set<AccessFlag> access() {
        return AccessFlag.of(access);
    }

    /// [#access] as bits, for providers.
    protected final int accessMask() {
        return access;
    }

    /// The provider's handle: the address of the C struct if there is one.
    public abstract long handle();

    /// The whole region as a peer names it in one-sided operations; send it to the peer.
    public final RemoteMemory remote() {
        return new RemoteMemory(address(), length(), remoteKey());
    }

    /// Changes the memory, the protection domain or the rights of the region (ibv_rereg_mr(3)); null keeps the
    /// current value. The keys may change. Work in flight on the region fails.
    ///
    /// @throws UnsupportedVerbException if the device does not support this
    /// @throws VerbException EINVAL if the rights are inconsistent, the protection domain belongs to another
    ///         context, or memory that the region owns would be replaced
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
        if (newSegment != null && elsewhere != null) {
            throw new VerbException(REREGISTER, Errno.EINVAL, this + " is a DMA buffer; register the memory instead");
        }
        if (newDomain != null) {
            newDomain.checkOpen();
            if (!newDomain.context().equals(protectionDomain.context())) {
                throw new VerbException(
                        REREGISTER,
                        Errno.EINVAL,
                        "its protection domain belongs to another context than " + protectionDomain.context());
            }
        }
        int rights = newAccess == null ? -1 : protectionDomain.checkedAccess(newAccess);
        doReregister(newSegment, newDomain, rights);
    }

    /// Changes the region for [#reregister], then calls [#reregistered]. Access is -1 to keep it.
    protected abstract void doReregister(
            @Nullable MemorySegment newSegment, @Nullable ProtectionDomain newDomain, int newAccess);

    /// Records the change in this object; for providers, in [#doReregister].
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
