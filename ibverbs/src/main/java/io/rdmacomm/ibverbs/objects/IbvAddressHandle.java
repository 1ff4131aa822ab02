package io.rdmacomm.ibverbs.objects;

import io.rdmacomm.ibverbs.ffm.AddressVectorLayout;
import io.rdmacomm.ibverbs.ffm.LibIbverbs;
import io.rdmacomm.ibverbs.structs.AddressVectors;
import io.rdmacomm.ibverbs.structs.IbvFailure;
import io.rdmacomm.verbs.AddressHandle;
import io.rdmacomm.verbs.AddressVector;
import io.rdmacomm.verbs.ProtectionDomain;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// An address handle (`struct ibv_ah`).
final class IbvAddressHandle extends AddressHandle {
    private final LibIbverbs library;
    private final long handle;

    IbvAddressHandle(LibIbverbs library, ProtectionDomain domain, long domainAddress, AddressVector vector) {
        super(domain);
        this.library = library;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment struct = arena.allocate(AddressVectorLayout.BYTES, 8);
            AddressVectors.write(vector, struct, 0);
            this.handle = IbvFailure.address(
                    "create address handle (ibv_create_ah)",
                    library.createAddressHandle(domainAddress, struct.address()),
                    vector + " on " + domain.context());
        }
    }

    @Override
    public long handle() {
        return handle;
    }

    @Override
    protected void doClose() {
        IbvFailure.check("destroy address handle (ibv_destroy_ah)", library.destroyAddressHandle(handle), toString());
    }
}
