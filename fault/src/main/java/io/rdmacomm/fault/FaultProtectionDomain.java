package io.rdmacomm.fault;

import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.AddressHandle;
import io.rdmacomm.verbs.AddressVector;
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

/// Stands for a protection domain.
final class FaultProtectionDomain extends ProtectionDomain {
    private final FaultContext context;
    private final ProtectionDomain real;

    FaultProtectionDomain(FaultContext context, ProtectionDomain real) {
        super(context);
        this.context = context;
        this.real = real;
    }

    ProtectionDomain real() {
        return real;
    }

    @Override
    protected MemoryRegion doAllocate(long bytes, int access, PageSize pages) {
        beforeRegistering(access);
        return new FaultMemoryRegion(this, real.allocate(bytes, AccessFlag.of(access), pages), access);
    }

    @Override
    protected MemoryRegion doRegister(MemorySegment segment, int access) {
        beforeRegistering(access);
        return new FaultMemoryRegion(this, real.register(segment, AccessFlag.of(access)), access);
    }

    @Override
    protected MemoryRegion doRegisterDmaBuffer(int file, long offset, long length, long address, int access) {
        beforeRegistering(access);
        MemoryRegion region = real.registerDmaBuffer(file, offset, length, address, AccessFlag.of(access));
        return FaultMemoryRegion.ofDmaBuffer(this, region, access);
    }

    private void beforeRegistering(int access) {
        context.before(Operation.REGISTER);
        context.plan().restrictions().checkAccess("register memory", access);
    }

    @Override
    protected MemoryWindow doAllocateWindow(MemoryWindowType type) {
        context.before(Operation.ALLOCATE_WINDOW);
        return new FaultMemoryWindow(this, real.allocateWindow(type));
    }

    @Override
    protected SharedReceiveQueue doCreateSharedReceiveQueue(SharedReceiveQueueOptions options) {
        context.before(Operation.CREATE_SHARED_RECEIVE_QUEUE);
        SharedReceiveQueue queue = real.createSharedReceiveQueue(options);
        return context.standsFor(queue, new FaultSharedReceiveQueue(context, this, options, queue));
    }

    @Override
    protected AddressHandle doCreateAddressHandle(AddressVector vector) {
        return new FaultAddressHandle(this, real.createAddressHandle(vector));
    }

    @Override
    protected QueuePair doCreateQueuePair(QueuePairOptions options) {
        context.before(Operation.CREATE_QUEUE_PAIR);
        context.plan()
                .restrictions()
                .checkInline("create queue pair", options.sizes().inlineBytes());
        FaultCompletionQueue sends = (FaultCompletionQueue) options.sendCompletions();
        FaultCompletionQueue receives = (FaultCompletionQueue) options.receiveCompletions();
        FaultSharedReceiveQueue shared = (FaultSharedReceiveQueue) options.sharedReceives();
        QueuePair pair = real.createQueuePair(new QueuePairOptions(
                options.type(),
                sends.real(),
                receives.real(),
                shared == null ? null : shared.real(),
                options.sizes(),
                options.signalAll(),
                options.singleThreaded()));
        QueuePairOptions actual = options.withSingleThreaded(pair.options().singleThreaded());
        return context.standsFor(pair, new FaultQueuePair(context, this, actual, pair));
    }

    @Override
    protected void doClose() {
        real.close();
    }

    @Override
    public String toString() {
        return "protection domain on " + context;
    }
}
