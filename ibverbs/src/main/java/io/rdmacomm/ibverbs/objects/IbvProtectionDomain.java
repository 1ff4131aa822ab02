package io.rdmacomm.ibverbs.objects;

import io.rdmacomm.ibverbs.structs.IbvFailure;
import io.rdmacomm.verbs.AddressVector;
import io.rdmacomm.verbs.MemoryWindowType;
import io.rdmacomm.verbs.PageSize;
import io.rdmacomm.verbs.SharedReceiveQueueOptions;
import io.rdmacomm.verbs.spi.AddressHandleDriver;
import io.rdmacomm.verbs.spi.MemoryRegionDriver;
import io.rdmacomm.verbs.spi.MemoryWindowDriver;
import io.rdmacomm.verbs.spi.ProtectionDomainDriver;
import io.rdmacomm.verbs.spi.QueuePairDriver;
import io.rdmacomm.verbs.spi.QueuePairRequest;
import io.rdmacomm.verbs.spi.SharedReceiveQueueDriver;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// A protection domain (`struct ibv_pd`).
final class IbvProtectionDomain implements ProtectionDomainDriver {
    private final NativeContext device;
    private final KernelDriver driver;
    private final long address;

    IbvProtectionDomain(NativeContext device, KernelDriver driver) {
        this.device = device;
        this.driver = driver;
        this.address = IbvFailure.address(
                "allocate protection domain (ibv_alloc_pd)",
                device.library().allocateDomain(device.address()),
                device.toString());
    }

    @Override
    public long handle() {
        return address;
    }

    @Override
    public MemoryRegionDriver allocate(long bytes, int access, PageSize pages) {
        return IbvMemoryRegion.allocate(device, address, OwnedMemory.allocate(bytes, pages), access);
    }

    @Override
    public MemoryRegionDriver register(MemorySegment segment, int access) {
        return IbvMemoryRegion.register(device, address, segment, access);
    }

    @Override
    public MemoryRegionDriver map(MemorySegment file, Arena mapping, int access) {
        return IbvMemoryRegion.map(device, address, file, mapping, access);
    }

    @Override
    public MemoryRegionDriver registerDmaBuffer(int file, long offset, long length, long start, int access) {
        return IbvMemoryRegion.ofDmaBuffer(device, address, new DmaBuffer(file, offset, length, start), access);
    }

    @Override
    public MemoryWindowDriver allocateWindow(MemoryWindowType type) {
        return new IbvMemoryWindow(device, address, type);
    }

    @Override
    public SharedReceiveQueueDriver createSharedReceiveQueue(int receives, int elements, int limit) {
        return driver.createSharedReceiveQueue(
                device,
                address,
                SharedReceiveQueueOptions.ofDepth(receives)
                        .withElements(elements)
                        .withLimit(limit));
    }

    @Override
    public AddressHandleDriver createAddressHandle(AddressVector vector) {
        return new IbvAddressHandle(device, address, vector);
    }

    @Override
    public QueuePairDriver createQueuePair(QueuePairRequest request) {
        return driver.createQueuePair(device, address, request);
    }

    @Override
    public void close() {
        IbvFailure.check(
                "deallocate protection domain (ibv_dealloc_pd)",
                device.library().deallocateDomain(address),
                toString());
    }

    @Override
    public String toString() {
        return "protection domain on " + device;
    }
}
