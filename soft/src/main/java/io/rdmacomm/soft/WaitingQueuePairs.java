package io.rdmacomm.soft;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/// The queue pairs whose next request must wait: for a peer that is not there yet, or for a receive of the peer.
final class WaitingQueuePairs {
    private final Set<SoftQueuePair> waiting = ConcurrentHashMap.newKeySet();

    void add(SoftQueuePair queuePair) {
        waiting.add(queuePair);
    }

    void remove(SoftQueuePair queuePair) {
        waiting.remove(queuePair);
    }

    boolean contains(SoftQueuePair queuePair) {
        return waiting.contains(queuePair);
    }

    /// Lets those try again whose time has come.
    ///
    /// @return nanoseconds until the next one's time
    long retryDue() {
        long soonest = Long.MAX_VALUE;
        if (waiting.isEmpty()) {
            // As nearly always: the iterator would be allocated each time.
            return soonest;
        }
        for (SoftQueuePair queuePair : waiting) {
            soonest = Math.min(soonest, queuePair.sends().retryIfDue());
        }
        return soonest;
    }
}
