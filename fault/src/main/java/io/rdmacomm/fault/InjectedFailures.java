package io.rdmacomm.fault;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.spi.CompletionLayout;
import io.rdmacomm.verbs.spi.QueuePairOwner;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;

/// The spoiled requests whose completions were not reported yet. They are posted to the real device with work ids
/// that are generated here, because those of users need not be unique. Thread-safe.
final class InjectedFailures {
    /// The vendor error of an injected failure.
    static final int VENDOR_ERROR = 0xfa017;

    private static final int FLUSHED = WorkStatus.FLUSHED.code();
    private static final int SUCCESS = WorkStatus.SUCCESS.code();

    private final Map<Long, Failure> failures = new ConcurrentHashMap<>();
    private final Random random = new Random();

    /// The failure to report.
    ///
    /// @param workId the work id of the user
    private record Failure(long workId, WorkStatus status, QueuePairOwner queuePair) {}

    /// Adds a request that is about to be posted.
    ///
    /// @return the work id to post it with
    long add(long workId, WorkStatus status, QueuePairOwner queuePair) {
        Failure failure = new Failure(workId, status, queuePair);
        long id = random.nextLong();
        while (failures.putIfAbsent(id, failure) != null) {
            id = random.nextLong();
        }
        return id;
    }

    /// Removes a request that could not be posted.
    void remove(long id) {
        failures.remove(id);
    }

    /// Changes the completion at `at` to the failure of the rule, if it reports one of these requests.
    void apply(MemorySegment completions, long at) {
        if (failures.isEmpty()) {
            return;
        }
        Failure failure = failures.remove(completions.get(JAVA_LONG, at + CompletionLayout.WORK_ID));
        if (failure == null) {
            return;
        }
        completions.set(JAVA_LONG, at + CompletionLayout.WORK_ID, failure.workId);
        int actual = completions.get(JAVA_INT, at + CompletionLayout.STATUS);
        if (actual == FLUSHED) {
            return; // an earlier request failed by itself
        }
        completions.set(JAVA_INT, at + CompletionLayout.STATUS, failure.status.code());
        completions.set(JAVA_INT, at + CompletionLayout.VENDOR_ERROR, VENDOR_ERROR);
        if (actual == SUCCESS) {
            // It succeeded although its memory was taken away, for example a receive of an empty message.
            failure.queuePair.fail();
        }
    }
}
