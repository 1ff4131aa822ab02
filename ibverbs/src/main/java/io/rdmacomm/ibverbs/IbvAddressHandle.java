package io.rdmacomm.ibverbs;

import io.rdmacomm.ibverbs.ffm.AddressVectorLayout;
import io.rdmacomm.ibverbs.ffm.LibIbverbs;
import io.rdmacomm.verbs.AddressHandle;
import io.rdmacomm.verbs.AddressVector;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// An address handle (`struct ibv_ah`).
final class IbvAddressHandle extends AddressHandle {
    private final LibIbverbs library;
    private final long handle;

    private IbvAddressHandle(IbvProtectionDomain domain, long handle) {
        super(domain);
        this.library = domain.ibvContext().library();
        this.handle = handle;
    }

    static IbvAddressHandle create(IbvProtectionDomain domain, AddressVector vector) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment struct = arena.allocate(AddressVectorLayout.BYTES, 8);
            AddressVectors.write(vector, struct, 0);
            return new IbvAddressHandle(
                    domain,
                    IbvFailure.address(
                            "create address handle (ibv_create_ah)",
                            domain.ibvContext().library().createAddressHandle(domain.address(), struct.address()),
                            vector + " on " + domain.ibvContext()));
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
