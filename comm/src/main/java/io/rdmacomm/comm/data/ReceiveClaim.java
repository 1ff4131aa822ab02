package io.rdmacomm.comm.data;

/// The share of one channel in a shared pool: receives that its peer may use, and messages that are not
/// closed. Only its [ReceiveBudget] changes it.
final class ReceiveClaim {
    /// How many it may have at most.
    final int most;
    /// How many it may have at the moment, according to how fast it uses them.
    int window;
    /// How many it has.
    int held;
    /// Whether the channel has ended, so that only messages are left.
    boolean ended;

    ReceiveClaim(int most) {
        this.most = most;
    }
}
