package io.rdmacomm.soft;

import io.rdmacomm.soft.roce.RocePort;
import io.rdmacomm.soft.shm.SharedMemory;
import io.rdmacomm.soft.tcp.LinkCounters;
import io.rdmacomm.soft.tcp.LinkTraffic;
import io.rdmacomm.soft.tcp.TcpNode;
import io.rdmacomm.soft.transport.Retries;
import java.util.HashMap;
import java.util.Map;

/// The counters of a context by name, as the port's counters of a hardware device.
final class SoftCounters {
    private SoftCounters() {}

    static Map<String, Long> of(Retries retries, RocePort roce) {
        Map<String, Long> counters = new HashMap<>(roce.counters());
        counters.put("rnr_retries", retries.notReady());
        return Map.copyOf(counters);
    }

    static Map<String, Long> of(Retries retries, SharedMemory sharedMemory, TcpNode tcp) {
        LinkTraffic traffic = tcp.traffic();
        LinkCounters links = tcp.counters();
        return Map.ofEntries(
                Map.entry("rnr_retries", retries.notReady()),
                Map.entry("missing_peer_retries", retries.missing()),
                Map.entry("staged_copies", sharedMemory.stagedCopies()),
                Map.entry("staged_copies_for_peers", sharedMemory.stagedCopiesForPeers()),
                Map.entry("tcp_links", links.links()),
                Map.entry("tcp_links_ended_by_peers", links.endedByPeers()),
                Map.entry("tcp_violations", links.violations()),
                Map.entry("tcp_callers_turned_away", links.turnedAway()),
                Map.entry("tcp_bytes_sent", traffic.bytesSent()),
                Map.entry("tcp_bytes_received", traffic.bytesReceived()),
                Map.entry("tcp_frames_sent", traffic.framesSent()),
                Map.entry("tcp_frames_received", traffic.framesReceived()));
    }
}
