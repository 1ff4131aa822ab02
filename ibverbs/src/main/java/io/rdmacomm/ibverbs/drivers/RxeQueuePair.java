package io.rdmacomm.ibverbs.drivers;

import io.rdmacomm.ibverbs.objects.IbvQueuePair;
import io.rdmacomm.ibverbs.objects.NativeContext;
import io.rdmacomm.verbs.QueuePairAttributes;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.spi.QueuePairOwner;
import io.rdmacomm.verbs.spi.QueuePairRequest;
import io.rdmacomm.verbs.spi.RequestChain;

/// A queue pair of rxe. librxe only writes a receive into memory, and the kernel no longer reads it in ERROR. But
/// each change to ERROR flushes again (`rxe_qp_error`).
final class RxeQueuePair extends IbvQueuePair {
    private final QueuePairOwner owner;

    RxeQueuePair(NativeContext device, long domain, QueuePairRequest request) {
        super(device, domain, request);
        this.owner = request.owner();
    }

    @Override
    public int postReceives(RequestChain receives, int first, int count) {
        int taken = super.postReceives(receives, first, count);
        if (owner.state() == QueuePairState.ERROR) {
            flushReceives();
        }
        return taken;
    }

    @Override
    protected void afterFailure() {
        flushReceives();
    }

    private void flushReceives() {
        apply(new QueuePairAttributes().state(QueuePairState.ERROR));
    }
}
