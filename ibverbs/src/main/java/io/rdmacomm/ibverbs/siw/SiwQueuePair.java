package io.rdmacomm.ibverbs.siw;

import io.rdmacomm.ibverbs.objects.IbvQueuePair;
import io.rdmacomm.ibverbs.objects.NativeContext;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.SendBatch;

/// A queue pair of siw. It posts scatter/gather lists that siw can take, and leaves no completions when it is closed.
final class SiwQueuePair extends IbvQueuePair {
    /// The result of libsiw when the write(2) that rings the doorbell failed (`siw_db`).
    private static final int DOORBELL_FAILED = -1;

    private final SiwDriver driver;
    private final SiwElements elements;

    SiwQueuePair(
            SiwDriver driver,
            NativeContext device,
            ProtectionDomain domain,
            long domainAddress,
            QueuePairOptions options) {
        super(device, domain, domainAddress, options);
        this.driver = driver;
        this.elements = new SiwElements(doSizes().sends());
    }

    /// The kernel's connection manager changes the state, and siw fills in nothing. When a request fails, siw ends the
    /// connection, leaves the state alone (`siw_qp_cm_drop`), and flushes the queues only when it is changed.
    @Override
    protected boolean reportsAttributes() {
        return false;
    }

    /// Posts the requests in front of the first one that siw would execute wrongly, which it rejects.
    @Override
    protected int doPost(SendBatch batch, int first, int count) {
        int good = SiwRejections.acceptable(batch, first, count);
        int taken = 0;
        if (good > 0) {
            batch.endAfter(first + good - 1);
            taken = postReplaced(batch, first, good);
        }
        if (taken == good && good < count) {
            throw SiwRejections.rejection(
                    "post send (ibv_post_send)",
                    batch,
                    first + good,
                    protectionDomain().context().device().name());
        }
        return taken;
    }

    private int postReplaced(SendBatch batch, int first, int count) {
        boolean replaced = elements.replace(batch, first, count);
        try {
            return super.doPost(batch, first, count);
        } finally {
            if (replaced) {
                elements.restore(batch, first, count);
            }
        }
    }

    /// The kernel accepts no doorbell while the connection ends (ENOTCONN of `siw_post_send`), although libsiw has
    /// put the requests into the queue.
    @Override
    protected boolean afterLostDoorbell(int result) {
        boolean ending = result == DOORBELL_FAILED;
        if (ending) {
            noticeState();
        }
        return ending;
    }

    /// The next queue pair gets the number of this one (`siw_qp_add`), and would be taken for the source of its
    /// completions: a flushed receive would change the new queue pair to ERROR. So they are removed with it.
    @Override
    protected void doDestroy() {
        synchronized (driver) {
            super.doDestroy();
            ((SiwCompletionQueue) options().sendCompletions()).removeCompletionsOf(number());
            ((SiwCompletionQueue) options().receiveCompletions()).removeCompletionsOf(number());
        }
        elements.close();
    }
}
