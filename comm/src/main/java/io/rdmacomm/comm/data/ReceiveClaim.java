package io.rdmacomm.comm.data;

/// The share of one channel in a shared pool: receives that its peer may use, and messages that are not
/// closed. Only its [ReceiveBudget] changes it.
final class ReceiveClaim {
    /// The most receives that it may have.
    final int most;
    /// The number that it may have now, depending on how fast it uses them.
    int window;
    /// The number that it has.
    int held;
    /// Whether the channel has ended, so that only messages are left.
    boolean ended;

    ReceiveClaim(int most) {
        this.most = most;
    }
}
