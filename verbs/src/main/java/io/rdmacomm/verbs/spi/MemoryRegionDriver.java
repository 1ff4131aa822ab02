package io.rdmacomm.verbs.spi;

import io.rdmacomm.verbs.Capability;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// A memory region ([io.rdmacomm.verbs.MemoryRegion]). Thread-safe.
public interface MemoryRegionDriver extends Driver {
    /// The number by which the provider finds it: the address of the C struct if there is one.
    long handle();

    /// The key for local scatter/gather elements.
    int localKey();

    /// The key that a peer needs.
    int remoteKey();

    /// The memory; null if this process has not mapped it.
    @Nullable
    MemorySegment segment();

    /// Changes the region (ibv_rereg_mr(3)).
    ///
    /// @param segment the new memory; null to keep it
    /// @param domain the new protection domain; null to keep it
    /// @param access the new rights as bits of [io.rdmacomm.verbs.AccessFlag]; -1 to keep them
    default void reregister(@Nullable MemorySegment segment, @Nullable ProtectionDomainDriver domain, int access) {
        throw Unsupported.verb(this, "reregister memory (ibv_rereg_mr)", Capability.REREGISTER_MEMORY);
    }
}
