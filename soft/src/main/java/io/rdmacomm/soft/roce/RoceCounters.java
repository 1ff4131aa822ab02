package io.rdmacomm.soft.roce;

import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/// Counts the packets of an address. Thread-safe; allocates nothing while it counts.
public final class RoceCounters {
    final LongAdder sent = new LongAdder();
    final LongAdder received = new LongAdder();
    /// Packets that the socket refused, for example because they were longer than the path allows.
    final LongAdder unsent = new LongAdder();
    final LongAdder malformed = new LongAdder();
    final LongAdder wrongChecksums = new LongAdder();
    /// Packets for no queue pair, or from another host than its peer's.
    final LongAdder strays = new LongAdder();
    final LongAdder duplicates = new LongAdder();
    final LongAdder outOfOrder = new LongAdder();
    /// The number of times that packets were repeated, from one on.
    final LongAdder repetitions = new LongAdder();
    final LongAdder refused = new LongAdder();
    /// Messages of unreliable connections that lacked a packet or a receive, or were not allowed.
    final LongAdder dropped = new LongAdder();

    /// Nothing yet.
    RoceCounters() {}

    /// The counters by name.
    public Map<String, Long> values() {
        return Map.ofEntries(
                Map.entry("roce_packets_sent", sent.sum()),
                Map.entry("roce_packets_received", received.sum()),
                Map.entry("roce_packets_unsent", unsent.sum()),
                Map.entry("roce_packets_malformed", malformed.sum()),
                Map.entry("roce_wrong_checksums", wrongChecksums.sum()),
                Map.entry("roce_packets_for_nobody", strays.sum()),
                Map.entry("roce_duplicates", duplicates.sum()),
                Map.entry("roce_packets_out_of_order", outOfOrder.sum()),
                Map.entry("roce_repetitions", repetitions.sum()),
                Map.entry("roce_requests_refused", refused.sum()),
                Map.entry("roce_messages_dropped", dropped.sum()));
    }
}
