package io.rdmacomm.comm.progress;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;

/// Additional tasks for the thread that polls a completion group. Any thread may add one.
final class GroupTasks {
    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final AtomicInteger count = new AtomicInteger();

    void add(Runnable task) {
        tasks.add(task);
        count.incrementAndGet();
    }

    /// Whether there is a task.
    boolean areWaiting() {
        return count.get() > 0;
    }

    /// Runs the queued tasks; a task may resubmit itself. One thread at a time.
    void run() {
        for (int left = count.get(); left > 0; left--) {
            Runnable task = tasks.poll();
            if (task == null) {
                return;
            }
            count.decrementAndGet();
            task.run();
        }
    }
}
