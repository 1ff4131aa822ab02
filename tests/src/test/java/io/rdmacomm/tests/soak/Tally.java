package io.rdmacomm.tests.soak;

import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;

/// What the links of a name have done in this process.
final class Tally {
    private final Map<Kind, LongAdder> requests = new EnumMap<>(Kind.class);
    private final LongAdder messages = new LongAdder();
    private final LongAdder bytes = new LongAdder();

    Tally() {
        for (Kind kind : Kind.values()) {
            requests.put(kind, new LongAdder());
        }
    }

    /// A request has succeeded.
    void done(Kind kind) {
        Objects.requireNonNull(requests.get(kind)).increment();
    }

    /// A message has arrived and was compared.
    void message(int length) {
        messages.increment();
        bytes.add(length);
    }

    /// More bytes were compared.
    void bytes(int length) {
        bytes.add(length);
    }

    /// All numbers: messages, bytes, and the requests of each kind; starts again from zero.
    long[] take() {
        long[] all = new long[2 + requests.size()];
        all[0] = messages.sumThenReset();
        all[1] = bytes.sumThenReset();
        int i = 2;
        for (LongAdder count : requests.values()) {
            all[i++] = count.sumThenReset();
        }
        return all;
    }
}
