package io.rdmacomm.ibverbs.rxe;

import io.rdmacomm.ibverbs.objects.IbvQueuePair;
import io.rdmacomm.ibverbs.objects.NativeContext;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.QueuePairAttributes;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.ReceiveBatch;

/// A queue pair of rxe. librxe only writes a receive into memory, and in ERROR the kernel looks at it no more; but it
/// flushes again with each change to ERROR (`rxe_qp_error`).
final class RxeQueuePair extends IbvQueuePair {
    RxeQueuePair(NativeContext device, ProtectionDomain domain, long domainAddress, QueuePairOptions options) {
        super(device, domain, domainAddress, options);
    }

    @Override
    protected int doPost(ReceiveBatch batch, int first, int count) {
        int taken = super.doPost(batch, first, count);
        if (state() == QueuePairState.ERROR) {
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
