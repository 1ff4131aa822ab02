package io.rdmacomm.fault;

import io.rdmacomm.verbs.AddressVector;
import io.rdmacomm.verbs.MemoryWindowType;
import io.rdmacomm.verbs.PageSize;
import io.rdmacomm.verbs.spi.AddressHandleDriver;
import io.rdmacomm.verbs.spi.MemoryRegionDriver;
import io.rdmacomm.verbs.spi.MemoryWindowDriver;
import io.rdmacomm.verbs.spi.ProtectionDomainDriver;
import io.rdmacomm.verbs.spi.QueuePairDriver;
import io.rdmacomm.verbs.spi.QueuePairRequest;
import io.rdmacomm.verbs.spi.SharedReceiveQueueDriver;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// Fails or delays the creation of objects in a protection domain.
final class FaultProtectionDomain extends Wrapper<ProtectionDomainDriver> implements ProtectionDomainDriver {
    private final OpenDevice device;
    private final Restrictions restrictions;

    FaultProtectionDomain(OpenDevice device, ProtectionDomainDriver real) {
        super(real);
        this.device = device;
        this.restrictions = device.plan().restrictions();
    }

    @Override
    public long handle() {
        return real.handle();
    }

    @Override
    public MemoryRegionDriver allocate(long bytes, int access, PageSize pages) {
        beforeRegistering(access);
        return real.allocate(bytes, access, pages);
    }

    @Override
    public MemoryRegionDriver register(MemorySegment segment, int access) {
        beforeRegistering(access);
        return real.register(segment, access);
    }

    @Override
    public MemoryRegionDriver map(MemorySegment file, Arena mapping, int access) {
        beforeRegistering(access);
        return real.map(file, mapping, access);
    }

    @Override
    public MemoryRegionDriver registerDmaBuffer(int file, long offset, long length, long address, int access) {
        beforeRegistering(access);
        return real.registerDmaBuffer(file, offset, length, address, access);
    }

    private void beforeRegistering(int access) {
        device.before(FaultOperation.REGISTER);
        restrictions.checkAccess("register memory", access);
    }

    @Override
    public MemoryWindowDriver allocateWindow(MemoryWindowType type) {
        device.before(FaultOperation.ALLOCATE_WINDOW);
        return real.allocateWindow(type);
    }

    @Override
    public SharedReceiveQueueDriver createSharedReceiveQueue(int receives, int elements, int limit) {
        device.before(FaultOperation.CREATE_SHARED_RECEIVE_QUEUE);
        return real.createSharedReceiveQueue(receives, elements, limit);
    }

    @Override
    public AddressHandleDriver createAddressHandle(AddressVector vector) {
        return real.createAddressHandle(vector);
    }

    @Override
    public QueuePairDriver createQueuePair(QueuePairRequest request) {
        device.before(FaultOperation.CREATE_QUEUE_PAIR);
        restrictions.checkInline("create queue pair", request.sizes().inlineBytes());
        QueuePairDriver queuePair = real.createQueuePair(request);
        FaultQueuePair wrapper = new FaultQueuePair(device, request, queuePair);
        device.queuePairs().put((long) queuePair.number(), wrapper);
        return wrapper;
    }
}
