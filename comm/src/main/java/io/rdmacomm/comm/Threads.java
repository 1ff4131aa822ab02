package io.rdmacomm.comm;

/// Waits for threads that are sure to end.
final class Threads {
    private Threads() {}

    /// Waits for the end of `thread`, however often this thread is interrupted meanwhile.
    static void join(Thread thread) {
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
