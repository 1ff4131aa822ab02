package io.rdmacomm.ibverbs.objects;

import io.rdmacomm.ibverbs.structs.IbvFailure;
import io.rdmacomm.verbs.AddressHandle;
import io.rdmacomm.verbs.AddressVector;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.MemoryWindow;
import io.rdmacomm.verbs.MemoryWindowType;
import io.rdmacomm.verbs.PageSize;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.SharedReceiveQueue;
import io.rdmacomm.verbs.SharedReceiveQueueOptions;
import java.lang.foreign.MemorySegment;

/// A protection domain (`struct ibv_pd`).
final class IbvProtectionDomain extends ProtectionDomain {
    private final NativeContext device;
    private final Driver driver;
    private final long address;

    IbvProtectionDomain(NativeContext device, Context context, Driver driver) {
        super(context);
        this.device = device;
        this.driver = driver;
        this.address = IbvFailure.address(
                "allocate protection domain (ibv_alloc_pd)",
                device.library().allocateDomain(device.address()),
                context.toString());
    }

    /// The address of the struct.
    long address() {
        return address;
    }

    @Override
    protected MemoryRegion doAllocate(long bytes, int access, PageSize pages) {
        return IbvMemoryRegion.allocate(device, this, OwnedMemory.allocate(bytes, pages), access);
    }

    @Override
    protected MemoryRegion doRegister(MemorySegment segment, int access) {
        return IbvMemoryRegion.register(device, this, segment, access);
    }

    @Override
    protected MemoryRegion doRegisterDmaBuffer(int file, long offset, long length, long address, int access) {
        return IbvMemoryRegion.ofDmaBuffer(device, this, new DmaBuffer(file, offset, length, address), access);
    }

    @Override
    protected MemoryWindow doAllocateWindow(MemoryWindowType type) {
        long window = device.ops().allocateWindow(address, type.code());
        return new IbvMemoryWindow(
                device,
                this,
                type,
                IbvFailure.address(
                        "allocate memory window (ibv_alloc_mw)",
                        window,
                        context().toString()));
    }

    @Override
    protected SharedReceiveQueue doCreateSharedReceiveQueue(SharedReceiveQueueOptions options) {
        return driver.createSharedReceiveQueue(device, this, address, options);
    }

    @Override
    protected AddressHandle doCreateAddressHandle(AddressVector vector) {
        return new IbvAddressHandle(device.library(), this, address, vector);
    }

    @Override
    protected QueuePair doCreateQueuePair(QueuePairOptions options) {
        return driver.createQueuePair(device, this, address, options);
    }

    @Override
    protected void doClose() {
        IbvFailure.check(
                "deallocate protection domain (ibv_dealloc_pd)",
                device.library().deallocateDomain(address),
                toString());
    }

    @Override
    public String toString() {
        return "protection domain on " + context();
    }
}
