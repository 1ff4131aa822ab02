package io.rdmacomm.ibverbs.drivers;

import io.rdmacomm.ibverbs.objects.KernelDriver;
import io.rdmacomm.ibverbs.objects.NativeContext;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.spi.QueuePairDriver;
import io.rdmacomm.verbs.spi.QueuePairRequest;
import java.util.Set;

/// rxe as of Linux 6.1.
public final class RxeDriver extends KernelDriver {
    /// A driver for one open device.
    public RxeDriver() {
        super(false);
    }

    @Override
    protected Set<Capability> missing() {
        // rxe_resp.c never raises the event of the last receive. The CPU copies all data, in order.
        return Set.of(Capability.REREGISTER_MEMORY, Capability.LAST_WORK_EVENT, Capability.RELAXED_ORDERING);
    }

    @Override
    protected QueuePairDriver createQueuePair(NativeContext device, long domain, QueuePairRequest request) {
        return new RxeQueuePair(device, domain, request);
    }
}
