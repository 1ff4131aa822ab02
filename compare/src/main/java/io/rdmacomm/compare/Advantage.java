package io.rdmacomm.compare;

import java.util.Arrays;
import java.util.Map;
import java.util.Optional;

/// How many times better rdmacomm is than a peer.
///
/// @param mean the geometric mean of the ratios of all rounds: twice as good and half as good cancel each other out
/// @param low the lowest ratio of a round; not a number if it is unknown
/// @param high the highest ratio of a round; not a number if it is unknown
/// @param isUnstable whether rounds disagree about who is better
record Advantage(double mean, double low, double high, boolean isUnstable) {
    static Advantage of(double... ratios) {
        double logarithms = Arrays.stream(ratios).map(Math::log).sum();
        double low = Arrays.stream(ratios).min().orElse(Double.NaN);
        double high = Arrays.stream(ratios).max().orElse(Double.NaN);
        return new Advantage(Math.exp(logarithms / ratios.length), low, high, low < 1 && high > 1);
    }

    boolean hasRange() {
        return !Double.isNaN(low) && !Double.isNaN(high);
    }

    /// For a table.
    String text() {
        return "%.2f".formatted(mean)
                + (hasRange() ? " (%.2f..%.2f)".formatted(low, high) : "")
                + (isUnstable ? " unstable" : "");
    }

    /// Adds the members of the JSON object of a contestant.
    void addTo(Map<String, Object> members) {
        members.put("ratio", mean);
        if (hasRange()) {
            members.put("ratio_low", low);
            members.put("ratio_high", high);
        }
        members.put("unstable", isUnstable);
    }

    /// The advantage in the JSON object of a contestant, if there is one.
    static Optional<Advantage> read(Map<?, ?> members) {
        double mean = Entry.number(members, "ratio");
        return Double.isNaN(mean)
                ? Optional.empty()
                : Optional.of(new Advantage(
                        mean,
                        Entry.number(members, "ratio_low"),
                        Entry.number(members, "ratio_high"),
                        Boolean.TRUE.equals(members.get("unstable"))));
    }
}
