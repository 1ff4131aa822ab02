package io.rdmacomm.ibverbs.objects;

import io.rdmacomm.ibverbs.ffm.AddressVectorLayout;
import io.rdmacomm.ibverbs.structs.AddressVectors;
import io.rdmacomm.ibverbs.structs.IbvFailure;
import io.rdmacomm.verbs.AddressVector;
import io.rdmacomm.verbs.spi.AddressHandleDriver;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// An address handle (`struct ibv_ah`).
final class IbvAddressHandle implements AddressHandleDriver {
    private final NativeContext device;
    private final long handle;

    /// Creates the struct (ibv_create_ah(3)).
    ///
    /// @param domain the address of the struct of the protection domain
    IbvAddressHandle(NativeContext device, long domain, AddressVector vector) {
        this.device = device;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment struct = arena.allocate(AddressVectorLayout.BYTES, 8);
            AddressVectors.write(vector, struct, 0);
            this.handle = IbvFailure.address(
                    "create address handle (ibv_create_ah)",
                    device.library().createAddressHandle(domain, struct.address()),
                    vector + " on " + device);
        }
    }

    @Override
    public long handle() {
        return handle;
    }

    @Override
    public void close() {
        IbvFailure.check(
                "destroy address handle (ibv_destroy_ah)", device.library().destroyAddressHandle(handle), toString());
    }

    @Override
    public String toString() {
        return "address handle on " + device;
    }
}
