package io.rdmacomm.ibverbs.objects;

import io.rdmacomm.ibverbs.ffm.LibCLayout;

/// Finds out whether a device can resize completion queues. No attribute tells, and many drivers cannot (hns, mana,
/// erdma, qedr): the first query tries it with a queue made for that. Thread-safe.
final class ResizeTrial {
    private static final int CAPACITY = 1;
    private static final int LARGER = 16;

    private final NativeContext device;
    private boolean known;
    private boolean possible;

    ResizeTrial(NativeContext device) {
        this.device = device;
    }

    synchronized boolean isPossible() {
        if (!known) {
            tryOnce();
        }
        return possible;
    }

    private void tryOnce() {
        long queue = device.library().createCompletionQueue(device.address(), CAPACITY, 0, 0);
        if (queue <= 0) {
            possible = true; // no queue can be made now, so it does no harm; the next question is another trial
            return;
        }
        int errno = device.library().resizeCompletionQueue(queue, LARGER);
        possible = errno == 0 || errno == LibCLayout.ENOMEM;
        known = errno != LibCLayout.ENOMEM;
        var _ = device.library().destroyCompletionQueue(queue);
    }
}
