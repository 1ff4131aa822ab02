package io.rdmacomm.soft.roce;

import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/// Counts the packets of an address. Thread-safe; allocates nothing while it counts, unlike a
/// [java.util.concurrent.atomic.LongAdder] that several threads use.
public final class RoceCounters {
    final AtomicLong sent = new AtomicLong();
    final AtomicLong received = new AtomicLong();
    /// Packets that the socket refused, for example because they were longer than the path allows.
    final AtomicLong unsent = new AtomicLong();
    final AtomicLong malformed = new AtomicLong();
    final AtomicLong wrongChecksums = new AtomicLong();
    /// Packets for no queue pair, or from another host than its peer's.
    final AtomicLong strays = new AtomicLong();
    final AtomicLong duplicates = new AtomicLong();
    final AtomicLong outOfOrder = new AtomicLong();
    /// The number of times that packets were retransmitted.
    final AtomicLong repetitions = new AtomicLong();
    final AtomicLong refused = new AtomicLong();
    /// Messages of unreliable connections that lacked a packet or a receive, or were not allowed.
    final AtomicLong dropped = new AtomicLong();

    /// Nothing yet.
    RoceCounters() {}

    /// The counters by name.
    public Map<String, Long> values() {
        return Map.ofEntries(
                Map.entry("roce_packets_sent", sent.get()),
                Map.entry("roce_packets_received", received.get()),
                Map.entry("roce_packets_unsent", unsent.get()),
                Map.entry("roce_packets_malformed", malformed.get()),
                Map.entry("roce_wrong_checksums", wrongChecksums.get()),
                Map.entry("roce_packets_for_nobody", strays.get()),
                Map.entry("roce_duplicates", duplicates.get()),
                Map.entry("roce_packets_out_of_order", outOfOrder.get()),
                Map.entry("roce_repetitions", repetitions.get()),
                Map.entry("roce_requests_refused", refused.get()),
                Map.entry("roce_messages_dropped", dropped.get()));
    }
}
