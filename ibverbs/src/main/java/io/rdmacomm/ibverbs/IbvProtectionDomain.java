package io.rdmacomm.ibverbs;

import io.rdmacomm.verbs.AddressHandle;
import io.rdmacomm.verbs.AddressVector;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.MemoryWindow;
import io.rdmacomm.verbs.MemoryWindowType;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.SharedReceiveQueue;
import io.rdmacomm.verbs.SharedReceiveQueueOptions;
import java.lang.foreign.MemorySegment;

/// A protection domain (`struct ibv_pd`).
final class IbvProtectionDomain extends ProtectionDomain {
    private final IbvContext context;
    private final long address;

    IbvProtectionDomain(IbvContext context, long address) {
        super(context);
        this.context = context;
        this.address = address;
    }

    IbvContext ibvContext() {
        return context;
    }

    /// The address of the struct.
    long address() {
        return address;
    }

    @Override
    protected MemoryRegion doAllocate(long bytes, int access) {
        return IbvMemoryRegion.allocate(this, bytes, access);
    }

    @Override
    protected MemoryRegion doRegister(MemorySegment segment, int access) {
        return IbvMemoryRegion.register(this, segment, null, access);
    }

    @Override
    protected MemoryWindow doAllocateWindow(MemoryWindowType type) {
        long window = context.ops().allocateWindow(address, type.code());
        return new IbvMemoryWindow(
                this, type, IbvFailure.address("allocate memory window (ibv_alloc_mw)", window, context.toString()));
    }

    @Override
    protected SharedReceiveQueue doCreateSharedReceiveQueue(SharedReceiveQueueOptions options) {
        context.beforeQueue();
        return IbvSharedReceiveQueue.create(this, options);
    }

    @Override
    protected AddressHandle doCreateAddressHandle(AddressVector vector) {
        return IbvAddressHandle.create(this, vector);
    }

    @Override
    protected QueuePair doCreateQueuePair(QueuePairOptions options) {
        return IbvQueuePair.create(this, options);
    }

    @Override
    protected void doClose() {
        IbvFailure.check(
                "deallocate protection domain (ibv_dealloc_pd)",
                context.library().deallocateDomain(address),
                toString());
    }

    @Override
    public String toString() {
        return "protection domain on " + context;
    }
}
