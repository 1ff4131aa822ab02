package io.rdmacomm.comm.counters;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/// Records for tests.
final class Records {
    private Records() {}

    /// A record whose counters are 1, 2, 3 and so on times `factor`.
    static CounterRecord record(long id, String session, long factor) {
        Map<Counter, Long> values = new EnumMap<>(Counter.class);
        for (Counter counter : Counter.values()) {
            values.put(counter, (values.size() + 1) * factor);
        }
        return new CounterRecord(id, session, "peer 127.0.0.1:2020", "data-0", values);
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
