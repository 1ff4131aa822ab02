package io.rdmacomm.cli.devices;

import io.rdmacomm.verbs.statistics.ChannelCounter;
import io.rdmacomm.verbs.statistics.PublishedProcess;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// A sample as the members of a JSON document.
final class TopDocument {
    private TopDocument() {}

    /// The members.
    static Map<String, Object> members(Sample sample) {
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("folder", sample.folder().toString());
        List<Object> processes = new ArrayList<>();
        for (PublishedProcess process : sample.processes()) {
            processes.add(process(process, sample));
        }
        members.put("processes", processes);
        members.put("host_tcp", hostTcp(sample.tcp()));
        members.put("problems", sample.problems());
        return members;
    }

    private static Map<String, Object> process(PublishedProcess process, Sample sample) {
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("pid", process.identity().pid());
        members.put("command", process.command());
        members.put("published_ms", process.publishedMillis());
        members.put("channels_left_out", process.leftOut());
        members.put(
                "channels",
                sample.rows().stream()
                        .filter(row -> row.process().equals(process))
                        .map(TopDocument::channel)
                        .toList());
        return members;
    }

    private static Map<String, @Nullable Object> channel(Row row) {
        Map<String, Object> counters = new LinkedHashMap<>();
        for (ChannelCounter counter : ChannelCounter.values()) {
            counters.put(counter.name().toLowerCase(Locale.ROOT), row.counters().value(counter));
        }
        counters.put("in_flight", row.counters().inFlight());
        Map<String, @Nullable Object> members = new LinkedHashMap<>();
        members.put("session", row.counters().session());
        members.put("peer", row.counters().peer());
        members.put("channel", row.counters().channel());
        members.put("session_registered_bytes", row.registeredBytes());
        members.put("session_memory_limit", row.memoryLimit());
        members.put("counters", counters);
        members.put("per_second", perSecond(row.rates()));
        return members;
    }

    private static @Nullable Map<String, Object> perSecond(@Nullable Rates rates) {
        if (rates == null) {
            return null;
        }
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("operations", rates.operations());
        members.put("messages", rates.messages());
        members.put("bytes_in", rates.bytesIn());
        members.put("bytes_out", rates.bytesOut());
        members.put("window_stalls", rates.windowStalls());
        members.put("credit_stalls", rates.creditStalls());
        return members;
    }

    private static Map<String, Object> hostTcp(Sampler.@Nullable HostTcp tcp) {
        Map<String, Object> members = new LinkedHashMap<>();
        if (tcp != null) {
            TcpStatistics total = tcp.total();
            members.put("segments_in", total.segmentsIn());
            members.put("segments_out", total.segmentsOut());
            members.put("retransmitted", total.retransmitted());
            members.put("fast_retransmitted", total.fastRetransmitted());
            members.put("timeouts", total.timeouts());
            members.put("resets", total.resets());
            members.put("segments_out_per_second", tcp.segmentsOut());
            members.put("retransmitted_per_second", tcp.retransmitted());
            members.put("timeouts_per_second", tcp.timeouts());
        }
        return members;
    }
}
