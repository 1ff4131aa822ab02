package io.rdmacomm.soft;

import io.rdmacomm.soft.mapped.ControlLayout;
import io.rdmacomm.verbs.AddressVector;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.MemoryWindowType;
import io.rdmacomm.verbs.PageSize;
import io.rdmacomm.verbs.QueuePairType;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.spi.AddressHandleDriver;
import io.rdmacomm.verbs.spi.MemoryRegionDriver;
import io.rdmacomm.verbs.spi.MemoryWindowDriver;
import io.rdmacomm.verbs.spi.ProtectionDomainDriver;
import io.rdmacomm.verbs.spi.QueuePairDriver;
import io.rdmacomm.verbs.spi.QueuePairRequest;
import io.rdmacomm.verbs.spi.SharedReceiveQueueDriver;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// A protection domain is a number that keys and queue pairs carry.
final class SoftProtectionDomain implements ProtectionDomainDriver {
    private final SoftContext context;
    private final int number;

    SoftProtectionDomain(SoftContext context, int number) {
        this.context = context;
        this.number = number;
    }

    @Override
    public long handle() {
        return number;
    }

    @Override
    public MemoryRegionDriver allocate(long bytes, int access, PageSize pages) {
        return SoftMemoryRegion.allocate(context, number, bytes, access);
    }

    @Override
    public MemoryRegionDriver register(MemorySegment segment, int access) {
        return SoftMemoryRegion.register(context, number, segment, access);
    }

    @Override
    public MemoryRegionDriver map(MemorySegment file, Arena mapping, int access) {
        return SoftMemoryRegion.map(context, number, file, mapping, access);
    }

    @Override
    public MemoryWindowDriver allocateWindow(MemoryWindowType type) {
        return new SoftMemoryWindow(context, number, type);
    }

    @Override
    public SharedReceiveQueueDriver createSharedReceiveQueue(int receives, int elements, int limit) {
        return new SoftSharedReceiveQueue(context, number, receives, elements, limit);
    }

    @Override
    public AddressHandleDriver createAddressHandle(AddressVector vector) {
        return new SoftAddressHandle(context, number, vector);
    }

    @Override
    public QueuePairDriver createQueuePair(QueuePairRequest request) {
        String operation = "create queue pair (ibv_create_qp)";
        context.checkWorks(operation);
        int inline = request.sizes().inlineBytes();
        if (inline > SoftLimits.MAX_INLINE) {
            throw new VerbException(
                    operation, Errno.EINVAL, inline + " inline bytes, this device allows " + SoftLimits.MAX_INLINE);
        }
        int allocated = context.allocateNumber();
        if (allocated == 0) {
            throw new VerbException(
                    operation, Errno.ENOMEM, "all " + ControlLayout.QUEUE_PAIR_COUNT + " queue pairs are in use");
        }
        WorkQueues queues = null;
        boolean created = false;
        try {
            queues = new WorkQueues(context, number, request, allocated);
            QueuePairDriver queuePair = request.type() == QueuePairType.UNRELIABLE_DATAGRAM
                    ? new SoftDatagramQueuePair(context, number, request, queues)
                    : new SoftQueuePair(context, number, request, queues);
            created = true;
            return queuePair;
        } catch (IOException e) {
            throw context.noSpace(operation, "a queue pair of " + request.sizes(), e);
        } finally {
            if (!created) {
                if (queues != null) {
                    queues.free();
                }
                context.freeNumber(allocated);
            }
        }
    }

    @Override
    public void close() {
        // A number needs no release.
    }

    @Override
    public String toString() {
        return "protection domain " + number + " on " + context;
    }
}
