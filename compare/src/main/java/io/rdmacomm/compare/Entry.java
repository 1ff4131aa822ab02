package io.rdmacomm.compare;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// The results of one contestant in a scenario.
///
/// @param name of the contestant
/// @param contains what its figures contain
/// @param figures one for each round in which there is one, in order; empty in a document that keeps only their summary
/// @param median of the figures; not a number if there are none
/// @param low the lowest figure; not a number if it is unknown
/// @param high the highest figure; not a number if it is unknown
/// @param advantage how many times better rdmacomm is; empty for rdmacomm itself, and if one side has no figures
/// @param failure why there are not all figures; empty if there are
record Entry(
        String name,
        String contains,
        List<Double> figures,
        double median,
        double low,
        double high,
        Optional<Advantage> advantage,
        String failure) {
    /// The results with these figures of each round.
    static Entry of(String name, String contains, List<Double> figures, String failure) {
        double[] all = figures.stream().mapToDouble(Double::doubleValue).toArray();
        return new Entry(
                name,
                contains,
                figures,
                median(all),
                Arrays.stream(all).min().orElse(Double.NaN),
                Arrays.stream(all).max().orElse(Double.NaN),
                Optional.empty(),
                failure);
    }

    /// The same with the ratio to rdmacomm in each round: both sides of a ratio were measured within seconds.
    Entry against(Entry ours, Unit unit) {
        int rounds = Math.min(figures.size(), ours.figures.size());
        double[] ratios = new double[rounds];
        for (int i = 0; i < rounds; i++) {
            ratios[i] = unit.advantage(ours.figures.get(i), figures.get(i));
        }
        return new Entry(
                name,
                contains,
                figures,
                median,
                low,
                high,
                rounds == 0 ? Optional.empty() : Optional.of(Advantage.of(ratios)),
                failure);
    }

    boolean isMeasured() {
        return !Double.isNaN(median);
    }

    boolean hasRange() {
        return !Double.isNaN(low) && !Double.isNaN(high);
    }

    /// The library, which is compared in several scenarios: the name without the transport and the test.
    String library() {
        return name.replaceFirst(" (shm|tcp|IPC)\\b", "").replaceFirst(" (\\w*_\\w*|session)(?=,|$)", "");
    }

    /// The JSON object.
    Map<String, Object> toMap() {
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("name", name);
        members.put("contains", contains);
        members.put("figures", figures);
        if (isMeasured()) {
            members.put("median", median);
        }
        if (hasRange()) {
            members.put("low", low);
            members.put("high", high);
        }
        advantage.ifPresent(ratio -> ratio.addTo(members));
        if (!failure.isEmpty()) {
            members.put("failure", failure);
        }
        return members;
    }

    /// The results of a JSON object.
    ///
    /// @throws IllegalArgumentException if it is no such object
    static Entry read(Map<?, ?> members) {
        List<Double> figures = new ArrayList<>();
        if (members.get("figures") instanceof List<?> rounds) {
            for (Object figure : rounds) {
                if (!(figure instanceof Number number)) {
                    throw new IllegalArgumentException("no number in the figures");
                }
                figures.add(number.doubleValue());
            }
        }
        return new Entry(
                text(members, "name"),
                members.get("contains") instanceof String text ? text : "",
                figures,
                number(members, "median"),
                number(members, "low"),
                number(members, "high"),
                Advantage.read(members),
                members.get("failure") instanceof String text ? text : "");
    }

    /// The member.
    ///
    /// @throws IllegalArgumentException if it is no text
    static String text(Map<?, ?> members, String name) {
        if (members.get(name) instanceof String text) {
            return text;
        }
        throw new IllegalArgumentException("no text " + name);
    }

    /// The member, or not a number if there is none.
    static double number(Map<?, ?> members, String name) {
        return members.get(name) instanceof Number number ? number.doubleValue() : Double.NaN;
    }

    static double median(double... values) {
        if (values.length == 0) {
            return Double.NaN;
        }
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }
}
