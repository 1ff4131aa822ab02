package io.rdmacomm.verbs;

import io.rdmacomm.verbs.lifetime.Lifetime;
import io.rdmacomm.verbs.spi.MemoryRegionDriver;
import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Memory registered with a device (`struct ibv_mr`, ibv_reg_mr(3)).
///
/// Its addresses are those of the memory in this process, unless it is ZERO_BASED. If a region is closed while
/// work refers to it, that work fails with a protection error. Thread-safe.
public final class MemoryRegion implements Resource {
    private static final String REREGISTER = "reregister memory (ibv_rereg_mr)";

    private final MemoryRegionDriver driver;
    private final Lifetime lifetime;
    // The address, if this process has not mapped the memory.
    private final long otherAddress;
    private final long otherLength;
    private volatile ProtectionDomain protectionDomain;
    private volatile @Nullable MemorySegment segment;
    private volatile int access;

    private MemoryRegion(
            ProtectionDomain protectionDomain, MemoryRegionDriver driver, long address, long length, int access) {
        this.protectionDomain = protectionDomain;
        this.driver = driver;
        this.lifetime = new Lifetime(this, protectionDomain.lifetime(), driver);
        this.segment = driver.segment();
        this.otherAddress = address;
        this.otherLength = length;
        this.access = access;
    }

    /// @param access the bits of [AccessFlag]
    static MemoryRegion of(ProtectionDomain protectionDomain, MemoryRegionDriver driver, int access) {
        return new MemoryRegion(protectionDomain, driver, 0, 0, access);
    }

    /// A region of memory that this process has not mapped.
    ///
    /// @param address the address of its first byte in scatter/gather elements and for peers
    /// @param length the length in bytes
    /// @param access the bits of [AccessFlag]
    static MemoryRegion elsewhere(
            ProtectionDomain protectionDomain, MemoryRegionDriver driver, long address, long length, int access) {
        return new MemoryRegion(protectionDomain, driver, address, length, access);
    }

    /// The protection domain that it is registered in, and is closed with; [#reregister] can change it.
    public ProtectionDomain protectionDomain() {
        return protectionDomain;
    }

    /// Whether the memory has a [#segment()] in this process. A DMA buffer has none.
    public boolean isMapped() {
        return segment != null;
    }

    /// The memory itself.
    ///
    /// @throws UnsupportedOperationException if it is a DMA buffer
    public MemorySegment segment() {
        MemorySegment memory = segment;
        if (memory == null) {
            throw new UnsupportedOperationException(
                    this + " is a DMA buffer, which is not mapped here; map its file descriptor to access it");
        }
        return memory;
    }

    /// The address of the region in scatter/gather elements and for peers.
    public long address() {
        MemorySegment memory = segment;
        if (memory == null) {
            return otherAddress;
        }
        return AccessFlag.ZERO_BASED.in(access) ? 0 : memory.address();
    }

    /// Its length in bytes.
    public long length() {
        MemorySegment memory = segment;
        return memory == null ? otherLength : memory.byteSize();
    }

    /// The key for local scatter/gather elements.
    public int localKey() {
        return driver.localKey();
    }

    /// The key that a peer needs.
    public int remoteKey() {
        return driver.remoteKey();
    }

    /// The rights to use it, in addition to local reads.
    public Set<AccessFlag> access() {
        return AccessFlag.of(access);
    }

    MemoryRegionDriver driver() {
        return driver;
    }

    Lifetime lifetime() {
        return lifetime;
    }

    /// The whole region for one-sided operations of a peer; send it to the peer.
    public RemoteMemory remote() {
        return new RemoteMemory(address(), length(), remoteKey());
    }

    /// Changes the memory, the protection domain or the rights of the region (ibv_rereg_mr(3)); null keeps the
    /// current value. The keys may change. Work in flight on the region fails.
    ///
    /// @throws IllegalArgumentException for LOCAL_WRITE if the memory is read-only
    /// @throws UnsupportedVerbException if the device does not support this
    /// @throws VerbException EINVAL if the rights are inconsistent, the protection domain belongs to another
    ///         context, or memory that the region owns would be replaced
    public void reregister(
            @Nullable MemorySegment newSegment,
            @Nullable ProtectionDomain newDomain,
            @Nullable Set<AccessFlag> newAccess) {
        lifetime.checkOpen();
        protectionDomain.context().require(Capability.REREGISTER_MEMORY, REREGISTER);
        if (newSegment != null && segment == null) {
            throw new VerbException(REREGISTER, Errno.EINVAL, this + " is a DMA buffer; register the memory instead");
        }
        if (newDomain != null) {
            newDomain.lifetime().checkOpen();
            if (!newDomain.context().equals(protectionDomain.context())) {
                throw new VerbException(
                        REREGISTER,
                        Errno.EINVAL,
                        "its protection domain belongs to another context than " + protectionDomain.context());
            }
        }
        int rights = newAccess == null ? -1 : protectionDomain.checkedAccess(newAccess);
        MemorySegment memory = newSegment == null ? segment : newSegment;
        if (memory != null && memory.isReadOnly() && AccessFlag.LOCAL_WRITE.in(rights == -1 ? access : rights)) {
            throw new IllegalArgumentException("a read-only segment cannot be registered with LOCAL_WRITE");
        }
        driver.reregister(newSegment, newDomain == null ? null : newDomain.driver(), rights);
        segment = newSegment == null ? segment : newSegment;
        access = rights == -1 ? access : rights;
        if (newDomain != null) {
            protectionDomain = newDomain;
            lifetime.moveTo(newDomain.lifetime());
        }
    }

    @Override
    public boolean isOpen() {
        return lifetime.isOpen();
    }

    @Override
    public void close() {
        lifetime.close();
    }

    @Override
    public String toString() {
        return "memory region 0x" + Integer.toHexString(localKey()) + " on " + protectionDomain.context();
    }
}
