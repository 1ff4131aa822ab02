package io.rdmacomm.cli.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/// The change since an earlier run. A change counts only if, by a test over the rounds of both runs, rounds of the
/// same program would differ this much in fewer than one of a hundred comparisons.
public final class Baseline {
    /// How to read the last column.
    public static final String EXPLANATION =
            "better, worse: a rank-sum test over the rounds of both runs finds p < 0.01. Both runs need 5 rounds at least.";

    private static final double SIGNIFICANT = 0.01;
    private static final int FEWEST_ROUNDS = 5;
    private static final List<String> HEADER =
            List.of("figure", "unit", "before", "noise", "now", "noise", "change", "");

    private Baseline() {}

    /// A row for each figure that both runs have.
    public static Grid compare(List<Figure> before, List<Figure> now) {
        Map<String, Figure> earlier =
                before.stream().collect(Collectors.toMap(Figure::name, Function.identity(), (first, _) -> first));
        List<List<String>> rows = new ArrayList<>();
        for (Figure figure : now) {
            Figure old = earlier.get(figure.name());
            if (old != null && old.value() > 0) {
                rows.add(row(old, figure));
            }
        }
        return new Grid("Change since the earlier run", HEADER, rows);
    }

    private static List<String> row(Figure before, Figure now) {
        return List.of(
                now.name(),
                now.unit(),
                Figure.text(before.value()),
                band(before),
                Figure.text(now.value()),
                band(now),
                "%+.1f %%".formatted(100 * (now.value() / before.value() - 1)),
                verdict(before, now));
    }

    private static String band(Figure figure) {
        return Figure.text(figure.low()) + ".." + Figure.text(figure.high());
    }

    private static String verdict(Figure before, Figure now) {
        if (before.rounds().size() < FEWEST_ROUNDS || now.rounds().size() < FEWEST_ROUNDS) {
            return "too few rounds";
        }
        if (RankSum.probability(before.rounds(), now.rounds()) >= SIGNIFICANT) {
            return "within noise";
        }
        return (now.value() < before.value()) == now.smallerIsBetter() ? "better" : "worse";
    }
}
