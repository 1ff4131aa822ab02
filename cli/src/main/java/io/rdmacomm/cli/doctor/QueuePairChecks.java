package io.rdmacomm.cli.doctor;

import java.util.ArrayList;
import java.util.List;

/// The checks on two queue pairs, from simple to disruptive.
public final class QueuePairChecks {
    private QueuePairChecks() {}

    /// All checks.
    public static List<Check> all() {
        List<Check> all = new ArrayList<>(List.of(new Transfers()));
        all.addAll(AccessFault.all());
        all.addAll(List.of(
                new TooLongMessage(),
                new ReceiverNotReady(),
                new Unanswered(),
                new Flush(),
                new Overrun(),
                new CloseUnderTraffic(),
                new PeerGone()));
        return all;
    }
}
