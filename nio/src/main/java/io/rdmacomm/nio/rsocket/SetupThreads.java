package io.rdmacomm.nio.rsocket;

import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/// The threads that establish connections, for all devices: a few platform threads, because each wait of a virtual
/// thread for a socket costs several wake-ups of other threads. While those are busy, virtual threads are used,
/// because a peer that does not answer must not delay others. All end soon after the last connection was
/// established.
public final class SetupThreads {
    private static final int MOST = 4;
    private static final long IDLE_SECONDS = 10;
    private static final ThreadPoolExecutor PLATFORM = new ThreadPoolExecutor(
            0,
            MOST,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new SynchronousQueue<>(),
            Thread.ofPlatform().daemon().name("rsocket-setup-", 0).factory(),
            (task, full) -> Thread.ofVirtual().name("rsocket-setup").start(task));

    private SetupThreads() {}

    /// Runs a task that waits for a peer.
    public static void run(Runnable task) {
        PLATFORM.execute(task);
    }
}
