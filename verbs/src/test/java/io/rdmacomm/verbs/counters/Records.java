package io.rdmacomm.verbs.counters;

import io.rdmacomm.verbs.statistics.ChannelCounter;
import io.rdmacomm.verbs.statistics.ChannelStatistics;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// Records for tests.
final class Records {
    private Records() {}

    /// A record whose counters, and operations in flight, are 1, 2, 3 and so on times `factor`.
    static CounterRecord record(long id, String session, long factor) {
        long[] values = new long[ChannelCounter.values().length];
        Arrays.setAll(values, i -> (i + 1) * factor);
        return new CounterRecord(
                id,
                session,
                "peer 127.0.0.1:2020",
                "data-0",
                (values.length + 1) * factor,
                new ChannelStatistics(values));
    }

    static List<CounterRecord> records(int count) {
        List<CounterRecord> records = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            records.add(record(i + 1, "session " + i, i));
        }
        return records;
    }

    static ProcessRecord process(ProcessIdentity process, List<CounterRecord> records) {
        return new ProcessRecord(process, "program argument", 12, 34, 0, records);
    }
}
