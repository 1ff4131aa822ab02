package io.rdmacomm.comm.progress;

/// Spins. Now and then it yields the processor, which costs nothing when no other thread needs it.
final class SpinningIdleStrategy implements IdleStrategy {
    private static final int SPINS_BEFORE_YIELD = 1 << 12;

    private int spins;

    @Override
    @SuppressWarnings("ThreadPriorityCheck") // a spinning thread lets others run
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
