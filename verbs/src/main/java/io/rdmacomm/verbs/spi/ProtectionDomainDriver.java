package io.rdmacomm.verbs.spi;

import io.rdmacomm.verbs.AddressVector;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.MemoryWindowType;
import io.rdmacomm.verbs.PageSize;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// A protection domain ([io.rdmacomm.verbs.ProtectionDomain]). Thread-safe. Rights are bits of
/// [io.rdmacomm.verbs.AccessFlag], and are consistent.
public interface ProtectionDomainDriver extends Driver {
    /// The number by which the provider finds it: the address of the C struct if there is one.
    long handle();

    /// Allocates zeroed memory and registers it (ibv_reg_mr(3)); closing the region frees it.
    MemoryRegionDriver allocate(long bytes, int access, PageSize pages);

    /// Registers memory of the program (ibv_reg_mr(3)).
    MemoryRegionDriver register(MemorySegment segment, int access);

    /// Registers a part of a file (ibv_reg_mr(3)). The region owns the mapping: it closes the arena when it is
    /// closed and nothing uses the memory any more. If this throws, the caller closes the arena.
    MemoryRegionDriver map(MemorySegment file, Arena mapping, int access);

    /// Registers a part of a DMA buffer (ibv_reg_dmabuf_mr(3)).
    default MemoryRegionDriver registerDmaBuffer(int file, long offset, long length, long address, int access) {
        throw Unsupported.verb(this, "register DMA buffer (ibv_reg_dmabuf_mr)", Capability.DMA_BUFFER);
    }

    /// Allocates an unbound memory window (ibv_alloc_mw(3)).
    default MemoryWindowDriver allocateWindow(MemoryWindowType type) {
        throw Unsupported.verb(
                this,
                "allocate memory window (ibv_alloc_mw)",
                type == MemoryWindowType.TYPE_1 ? Capability.MEMORY_WINDOW_TYPE_1 : Capability.MEMORY_WINDOW_TYPE_2);
    }

    /// Creates a shared receive queue (ibv_create_srq(3)).
    ///
    /// @param receives the least capacity
    /// @param elements the largest number of scatter/gather elements of a receive
    /// @param limit the limit to arm, 0 for none
    default SharedReceiveQueueDriver createSharedReceiveQueue(int receives, int elements, int limit) {
        throw Unsupported.verb(this, "create shared receive queue (ibv_create_srq)", Capability.SHARED_RECEIVE_QUEUE);
    }

    /// Creates an address handle (ibv_create_ah(3)).
    default AddressHandleDriver createAddressHandle(AddressVector vector) {
        throw Unsupported.verb(this, "create address handle (ibv_create_ah)", Capability.UNRELIABLE_DATAGRAM);
    }

    /// Creates a queue pair in state RESET (ibv_create_qp(3)).
    QueuePairDriver createQueuePair(QueuePairRequest request);
}
