package io.rdmacomm.verbs.statistics;

import java.util.Arrays;
import java.util.stream.Collectors;

/// The counters of a channel at one moment, or the sum of several channels. They are counted without
/// synchronization, so two of them may differ by a few operations. Immutable.
public final class ChannelStatistics {
    private static final ChannelCounter[] COUNTERS = ChannelCounter.values();

    private final long[] values;

    /// @param values the values of the first counters of [ChannelCounter], in its order; the others are 0
    public ChannelStatistics(long... values) {
        this.values = Arrays.copyOf(values, COUNTERS.length);
    }

    /// The value of `counter`.
    @SuppressWarnings("EnumOrdinal") // the place in the array
    public long value(ChannelCounter counter) {
        return values[counter.ordinal()];
    }

    /// The sum of both.
    public ChannelStatistics plus(ChannelStatistics other) {
        ChannelStatistics sum = new ChannelStatistics(values);
        Arrays.setAll(sum.values, i -> values[i] + other.values[i]);
        return sum;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof ChannelStatistics same && Arrays.equals(values, same.values);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(values);
    }

    /// Readable text, for example `OPERATIONS=3, COMPLETED=3`: the counters that are not 0.
    @Override
    public String toString() {
        return Arrays.stream(COUNTERS)
                .filter(counter -> value(counter) != 0)
                .map(counter -> counter + "=" + value(counter))
                .collect(Collectors.joining(", "));
    }
}
