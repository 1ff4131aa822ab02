package io.rdmacomm.fault;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.verbs.CompletionLayout;
import io.rdmacomm.verbs.WorkStatus;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;

/// The requests that were posted to fail and whose completions a completion queue has not reported yet. The real
/// device knows them by work ids made up here, as the user's need not be unique. Thread-safe.
final class DoomedRequests {
    /// The vendor error of an injected failure.
    static final int VENDOR_ERROR = 0xfa017;

    private static final int FLUSHED = WorkStatus.FLUSHED.code();
    private static final int SUCCESS = WorkStatus.SUCCESS.code();

    private final Map<Long, Doom> dooms = new ConcurrentHashMap<>();
    private final Random random = new Random();

    /// The completions that are to be reported.
    ///
    /// @param workId the user's
    private record Doom(long workId, WorkStatus status, FaultQueuePair queuePair) {}

    /// Adds a request that is about to be posted.
    ///
    /// @return the work id to post it with
    long add(long workId, WorkStatus status, FaultQueuePair queuePair) {
        Doom doom = new Doom(workId, status, queuePair);
        long id = random.nextLong();
        while (dooms.putIfAbsent(id, doom) != null) {
            id = random.nextLong();
        }
        return id;
    }

    /// Forgets a request that was not posted after all.
    void remove(long id) {
        dooms.remove(id);
    }

    /// Makes the completion at `at` that of the rule, if it reports a doomed request.
    void apply(MemorySegment completions, long at) {
        if (dooms.isEmpty()) {
            return;
        }
        Doom doom = dooms.remove(completions.get(JAVA_LONG, at + CompletionLayout.WORK_ID));
        if (doom == null) {
            return;
        }
        completions.set(JAVA_LONG, at + CompletionLayout.WORK_ID, doom.workId);
        int actual = completions.get(JAVA_INT, at + CompletionLayout.STATUS);
        if (actual == FLUSHED) {
            return; // an earlier request failed by itself
        }
        completions.set(JAVA_INT, at + CompletionLayout.STATUS, doom.status.code());
        completions.set(JAVA_INT, at + CompletionLayout.VENDOR_ERROR, VENDOR_ERROR);
        if (actual == SUCCESS) {
            // It needed none of the memory that was taken from it, for example a receive of an empty message.
            doom.queuePair.failReal();
        }
    }
}
