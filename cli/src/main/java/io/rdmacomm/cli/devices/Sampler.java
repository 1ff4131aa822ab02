package io.rdmacomm.cli.devices;

import io.rdmacomm.verbs.statistics.ProcessIdentity;
import io.rdmacomm.verbs.statistics.PublishedChannel;
import io.rdmacomm.verbs.statistics.PublishedCounters;
import io.rdmacomm.verbs.statistics.PublishedProcess;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Reads the counters files again and again. Each process publishes about once a second, at its own times. So rates
/// are those between two publications by the clock of the process, no matter how often this class reads.
final class Sampler {
    /// A process that has not published for this long is stopped, or gets no processor time.
    private static final long STALE_MILLIS = 5000;

    private final long pid;
    private final RowOrder order;
    private Map<ProcessIdentity, Publication> before = Map.of();
    private @Nullable TcpStatistics tcpBefore;
    private long tcpNanos;

    /// The last publication of a process, and the rates since the one before, by channel number.
    private record Publication(PublishedProcess process, Map<Long, Rates> rates) {}

    /// @param pid the process to show; 0 for all
    /// @param order the order of the rows
    Sampler(long pid, RowOrder order) {
        this.pid = pid;
        this.order = order;
    }

    /// Reads all files.
    ///
    /// @throws IOException if the folder cannot be read, or belongs to another user
    Sample sample() throws IOException {
        PublishedCounters content = PublishedCounters.read();
        Map<ProcessIdentity, Publication> publications = new HashMap<>();
        List<PublishedProcess> processes = new ArrayList<>();
        List<Row> rows = new ArrayList<>();
        for (PublishedProcess process : content.processes()) {
            if (pid != 0 && process.identity().pid() != pid) {
                continue;
            }
            Publication publication = publication(process);
            publications.put(process.identity(), publication);
            processes.add(process);
            addRows(publication, rows);
        }
        before = publications;
        rows.sort(order.comparator());
        return new Sample(content.folder(), List.copyOf(processes), List.copyOf(rows), tcp(), content.problems());
    }

    private Publication publication(PublishedProcess process) {
        Publication last = before.get(process.identity());
        if (last == null) {
            return new Publication(process, Map.of());
        }
        double seconds = (process.publishedNanos() - last.process().publishedNanos()) / 1e9;
        if (seconds == 0) {
            return last;
        }
        Map<Long, PublishedChannel> earlier = new HashMap<>();
        last.process().channels().forEach(channel -> earlier.put(channel.id(), channel));
        Map<Long, Rates> rates = new HashMap<>();
        for (PublishedChannel channel : process.channels()) {
            PublishedChannel same = earlier.get(channel.id());
            Rates found = same == null ? null : Rates.between(same, channel, seconds);
            if (found != null) {
                rates.put(channel.id(), found);
            }
        }
        return new Publication(process, rates);
    }

    private static void addRows(Publication publication, List<Row> rows) {
        PublishedProcess process = publication.process();
        boolean stale = System.currentTimeMillis() - process.publishedMillis() > STALE_MILLIS;
        for (PublishedChannel channel : process.channels()) {
            rows.add(
                    new Row(process, channel, stale ? null : publication.rates().get(channel.id())));
        }
    }

    private @Nullable HostTcp tcp() {
        TcpStatistics now = TcpStatistics.ofHost().orElse(null);
        long nanos = System.nanoTime();
        TcpStatistics earlier = tcpBefore;
        HostTcp rates = now == null || earlier == null ? null : HostTcp.between(earlier, now, (nanos - tcpNanos) / 1e9);
        tcpBefore = now;
        tcpNanos = nanos;
        return rates;
    }

    /// The host's TCP activity between two samples.
    ///
    /// @param total the counters now
    /// @param segmentsOut segments sent per second
    /// @param retransmitted segments retransmitted per second
    /// @param timeouts timeouts per second
    record HostTcp(TcpStatistics total, double segmentsOut, double retransmitted, double timeouts) {
        static HostTcp between(TcpStatistics before, TcpStatistics now, double seconds) {
            return new HostTcp(
                    now,
                    (now.segmentsOut() - before.segmentsOut()) / seconds,
                    (now.retransmitted() - before.retransmitted()) / seconds,
                    (now.timeouts() - before.timeouts()) / seconds);
        }
    }
}
