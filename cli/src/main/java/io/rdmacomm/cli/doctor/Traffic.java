package io.rdmacomm.cli.doctor;

import io.rdmacomm.verbs.RemoteMemory;
import io.rdmacomm.verbs.WorkStatus;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

/// Endless WRITEs, from a separate thread.
final class Traffic {
    private static final int BYTES = QueuePairEnd.OPEN_BYTES;
    private static final int ENOUGH = 16;
    private static final Duration TICK = Duration.ofMillis(1);

    private final QueuePairEnd near;
    private final RemoteMemory target;
    private final FutureTask<WorkStatus> task;
    private final CountDownLatch flow = new CountDownLatch(ENOUGH);
    private volatile long done;

    private Traffic(Pair pair) {
        this.near = pair.near();
        this.target = pair.far().offer().open();
        this.task = new FutureTask<>(this::write);
    }

    /// Starts the traffic.
    static Traffic begin(Pair pair) {
        Traffic traffic = new Traffic(pair);
        Thread.ofPlatform().daemon().name("traffic").start(traffic.task);
        return traffic;
    }

    /// Waits until some WRITEs have completed.
    ///
    /// @return false if they did not complete in time
    boolean awaitFlow(Duration timeout) throws InterruptedException {
        return flow.await(timeout.toNanos(), TimeUnit.NANOSECONDS);
    }

    /// The end of the traffic: the status of the first failed WRITE, or the exception of a failed call.
    FutureTask<WorkStatus> end() {
        return task;
    }

    /// The number of WRITEs that have completed.
    long done() {
        return done;
    }

    private WorkStatus write() throws InterruptedException {
        long next = 0;
        long succeeded = 0;
        while (true) {
            boolean room = true;
            while (room) {
                near.request().write(next, target).with(near.open(), 0, BYTES).signaled();
                room = near.tryPost();
                next += room ? 1 : 0;
            }
            Map<Long, WorkStatus> ends = near.collect(all -> !all.isEmpty(), TICK);
            for (WorkStatus status : ends.values()) {
                if (status != WorkStatus.SUCCESS) {
                    return status;
                }
            }
            succeeded += ends.size();
            done = succeeded;
            ends.keySet().forEach(_ -> flow.countDown());
        }
    }
}
