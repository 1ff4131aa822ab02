package io.rdmacomm.comm.progress;

/// Waits for threads that always end.
public final class Threads {
    private Threads() {}

    /// Waits until `thread` has ended. Interrupts do not end the wait; they are kept for the caller.
    public static void join(Thread thread) {
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
