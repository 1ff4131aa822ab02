package io.rdmacomm.verbs.counters;

import io.rdmacomm.verbs.statistics.ChannelCounter;
import io.rdmacomm.verbs.statistics.ChannelStatistics;
import io.rdmacomm.verbs.statistics.ProcessIdentity;
import io.rdmacomm.verbs.statistics.PublishedChannel;
import io.rdmacomm.verbs.statistics.PublishedProcess;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// Records for tests.
public final class Records {
    private Records() {}

    /// A record whose counters, and operations in flight, are 1, 2, 3 and so on times `factor`.
    public static PublishedChannel record(long id, String session, long factor) {
        long[] values = new long[ChannelCounter.values().length];
        Arrays.setAll(values, i -> (i + 1) * factor);
        return new PublishedChannel(
                id,
                session,
                "peer 127.0.0.1:2020",
                "data-0",
                (values.length + 1) * factor,
                100 * factor,
                1000 * factor,
                new ChannelStatistics(values));
    }

    public static List<PublishedChannel> records(int count) {
        List<PublishedChannel> records = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            records.add(record(i + 1, "session " + i, i));
        }
        return records;
    }

    public static PublishedProcess process(ProcessIdentity process, List<PublishedChannel> records) {
        return new PublishedProcess(process, "program argument", 12, 34, 0, records);
    }

    /// The file of a process.
    public static byte[] encode(PublishedProcess process) {
        return CountersEncoder.encode(process);
    }
}
