package io.rdmacomm.compare;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/// The results of one contestant in a scenario.
///
/// @param name of the contestant
/// @param contains what its figures contain
/// @param figures one for each round in which there is one, in order; empty in a document that keeps only their summary
/// @param floors what a cache line took when each figure was measured, not a number where that is unknown; empty if it
///     was not measured
/// @param median of the figures; not a number if there are none
/// @param low the lowest figure; not a number if it is unknown
/// @param high the highest figure; not a number if it is unknown
/// @param advantage how many times better rdmacomm is; empty for rdmacomm itself, and if one side has no figures
/// @param failure why there are not all figures or floors; empty if there are
record Entry(
        String name,
        String contains,
        List<Double> figures,
        List<Double> floors,
        double median,
        double low,
        double high,
        Optional<Advantage> advantage,
        String failure) {
    /// @throws IllegalArgumentException if a floor is not positive, or if one belongs to no figure
    Entry {
        if (floors.size() > figures.size() || floors.stream().anyMatch(floor -> floor <= 0)) {
            throw new IllegalArgumentException("the floors of " + name + " do not belong to its figures");
        }
    }

    /// The results with these figures of each round.
    static Entry of(String name, String contains, List<Double> figures, List<Double> floors, String failure) {
        double[] all = figures.stream().mapToDouble(Double::doubleValue).toArray();
        return new Entry(
                name,
                contains,
                figures,
                floors,
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
                floors,
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

    boolean hasFloor() {
        return floors.stream().anyMatch(Double::isFinite);
    }

    List<Double> knownFloors() {
        return floors.stream().filter(Double::isFinite).toList();
    }

    /// The floor of this entry, as an entry with the same name.
    Entry floor() {
        return of(name, "", knownFloors(), List.of(), "");
    }

    /// The differences between the figures and their floors, as an entry with the same name. Machines have states in
    /// which both are several times as long; only the difference is the library's.
    Entry aboveFloor() {
        List<Double> differences = IntStream.range(0, floors.size())
                .mapToObj(i -> figures.get(i) - floors.get(i))
                .filter(Double::isFinite)
                .toList();
        return of(name, "", differences, List.of(), "");
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
        if (!floors.isEmpty()) {
            members.put(
                    "floors",
                    floors.stream().map(floor -> floor.isNaN() ? null : floor).toList());
        }
        if (hasFloor()) {
            Entry above = aboveFloor();
            members.put("floor", floor().median());
            members.put("above_floor", above.median());
            members.put("above_floor_low", above.low());
            members.put("above_floor_high", above.high());
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
        return new Entry(
                text(members, "name"),
                members.get("contains") instanceof String text ? text : "",
                numbers(members, "figures", false),
                numbers(members, "floors", true),
                number(members, "median"),
                number(members, "low"),
                number(members, "high"),
                Advantage.read(members),
                members.get("failure") instanceof String text ? text : "");
    }

    /// The numbers in the array `name`; none if there is no such member.
    ///
    /// @param gaps whether it may have nulls, which are not a number
    /// @throws IllegalArgumentException if it is no array of numbers
    private static List<Double> numbers(Map<?, ?> members, String name, boolean gaps) {
        if (!members.containsKey(name)) {
            return List.of();
        }
        if (!(members.get(name) instanceof List<?> list)) {
            throw new IllegalArgumentException("no array " + name);
        }
        List<Double> numbers = new ArrayList<>();
        for (Object element : list) {
            if (element instanceof Number number && Double.isFinite(number.doubleValue())) {
                numbers.add(number.doubleValue());
            } else if (element == null && gaps) {
                numbers.add(Double.NaN);
            } else {
                throw new IllegalArgumentException("no number in the array " + name);
            }
        }
        return numbers;
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
        return members.get(name) instanceof Number number && Double.isFinite(number.doubleValue())
                ? number.doubleValue()
                : Double.NaN;
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
