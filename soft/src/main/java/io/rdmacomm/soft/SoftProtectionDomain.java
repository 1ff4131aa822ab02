package io.rdmacomm.soft;

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

/// A protection domain is a number that keys and queue pairs carry.
final class SoftProtectionDomain extends ProtectionDomain {
    private final SoftContext context;
    private final int number;

    SoftProtectionDomain(SoftContext context, int number) {
        super(context);
        this.context = context;
        this.number = number;
    }

    int number() {
        return number;
    }

    SoftContext softContext() {
        return context;
    }

    @Override
    protected MemoryRegion doAllocate(long bytes, int access, PageSize pages) {
        return SoftMemoryRegion.allocate(this, bytes, access);
    }

    @Override
    protected MemoryRegion doRegister(MemorySegment segment, int access) {
        return SoftMemoryRegion.register(this, segment, access);
    }

    @Override
    protected MemoryWindow doAllocateWindow(MemoryWindowType type) {
        return new SoftMemoryWindow(this, type);
    }

    @Override
    protected SharedReceiveQueue doCreateSharedReceiveQueue(SharedReceiveQueueOptions options) {
        return new SoftSharedReceiveQueue(this, options);
    }

    @Override
    protected AddressHandle doCreateAddressHandle(AddressVector vector) {
        return new SoftAddressHandle(this, vector);
    }

    @Override
    protected QueuePair doCreateQueuePair(QueuePairOptions options) {
        return SoftQueuePair.create(this, options);
    }

    @Override
    protected void doClose() {
        // A number needs no release.
    }

    @Override
    public String toString() {
        return "protection domain " + number + " on " + context;
    }
}
