package io.rdmacomm.cli.selftest;

import java.util.List;

/// The checks on two queue pairs, from the simple to the violent.
public final class QueuePairChecks {
    private QueuePairChecks() {}

    /// All of them.
    public static List<Check> all() {
        return List.of(
                new Transfers(),
                new WriteWithoutRight(),
                new ReadWithoutRight(),
                new UnknownKey(),
                new UnknownLocalKey(),
                new TooLongMessage(),
                new ReceiverNotReady(),
                new Unanswered(),
                new Flush(),
                new Overrun(),
                new CloseUnderTraffic(),
                new PeerGone());
    }
}
