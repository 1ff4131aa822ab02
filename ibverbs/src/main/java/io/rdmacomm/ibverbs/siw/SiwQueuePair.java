package io.rdmacomm.ibverbs.siw;

import io.rdmacomm.ibverbs.objects.IbvQueuePair;
import io.rdmacomm.ibverbs.objects.NativeContext;
import io.rdmacomm.verbs.service.Closer;
import io.rdmacomm.verbs.spi.QueuePairRequest;
import io.rdmacomm.verbs.spi.RequestChain;
import java.util.List;

/// A queue pair of siw. It posts scatter/gather lists that siw can handle, and leaves no completions when it is
/// closed.
final class SiwQueuePair extends IbvQueuePair {
    /// The result of libsiw when the write(2) that rings the doorbell failed (`siw_db`).
    private static final int DOORBELL_FAILED = -1;

    private final NativeContext device;
    private final List<SiwCompletionQueue> completions;
    private final Object numbers;
    private final SiwElements elements;

    /// @param completions its completion queues
    /// @param numbers the lock that is held while the kernel assigns numbers to queue pairs and takes them back
    SiwQueuePair(
            NativeContext device,
            long domain,
            QueuePairRequest request,
            List<SiwCompletionQueue> completions,
            Object numbers) {
        super(device, domain, request);
        this.device = device;
        this.completions = completions;
        this.numbers = numbers;
        this.elements = new SiwElements(sizes().sends());
    }

    /// False: the kernel's connection manager changes the state, and siw fills in nothing. When a request fails,
    /// siw ends the connection but leaves the state alone (`siw_qp_cm_drop`), and flushes the queues only when it
    /// is changed.
    @Override
    protected boolean reportsAttributes() {
        return false;
    }

    /// Posts the requests before the first one that siw would execute wrongly; that one is rejected.
    @Override
    public int postSends(RequestChain requests, int first, int count) {
        int good = SiwRejections.acceptable(requests, first, count);
        int taken = 0;
        if (good > 0) {
            requests.endAfter(first + good - 1);
            taken = postReplaced(requests, first, good);
        }
        if (taken == good && good < count) {
            throw SiwRejections.rejection("post send (ibv_post_send)", requests, first + good, device);
        }
        return taken;
    }

    private int postReplaced(RequestChain requests, int first, int count) {
        boolean replaced = elements.replace(requests, first, count);
        try {
            return super.postSends(requests, first, count);
        } finally {
            if (replaced) {
                elements.restore(requests, first, count);
            }
        }
    }

    /// While the connection ends, the kernel accepts no doorbell (ENOTCONN of `siw_post_send`), although libsiw has
    /// put the requests into the queue.
    @Override
    protected boolean afterLostDoorbell(int result) {
        boolean ending = result == DOORBELL_FAILED;
        if (ending) {
            noticeState();
        }
        return ending;
    }

    /// Also removes its completions. The next queue pair gets the same number (`siw_qp_add`), so they would seem to
    /// be its own: a flushed receive would change it to ERROR.
    @Override
    public void close() {
        synchronized (numbers) {
            super.close();
            completions.forEach(queue -> Closer.step(queue, () -> queue.removeCompletionsOf(number())));
        }
        elements.close();
    }
}
