package io.rdmacomm.comm;

/// Spins. Now and then it lets another thread have the processor, which costs nothing when none is waiting
/// for it.
final class PollingWaiter implements Waiter {
    private static final int SPINS_BEFORE_YIELD = 1 << 12;

    private int spins;

    @Override
    @SuppressWarnings("ThreadPriorityCheck") // a spinning thread that knows of another one in need
    public void idle(int polled, long maxNanos) {
        if (polled > 0) {
            spins = 0;
        } else if (++spins < SPINS_BEFORE_YIELD) {
            Thread.onSpinWait();
        } else {
            spins = 0;
            Thread.yield();
        }
    }
}
