package io.rdmacomm.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.jr.ob.JSON;
import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.cli.report.Figure;
import io.rdmacomm.cli.report.Grid;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// A comparison of contestants with known figures: the order, the medians, the ratios, and the documents.
class ComparisonTest {
    private final List<String> order = new ArrayList<>();
    private final List<String> progress = new ArrayList<>();

    /// Has these figures, one for each round; fails when there are no more.
    private class Known implements Contestant {
        private final String name;
        private final String absence;
        private final Iterator<Double> figures;

        Known(String name, String absence, Double... figures) {
            this.name = name;
            this.absence = absence;
            this.figures = List.of(figures).iterator();
        }

        @Override
        public String name() {
            return name;
        }

        @Override
        public String contains() {
            return "known figures";
        }

        @Override
        public String absence() {
            return absence;
        }

        @Override
        public double measure() {
            order.add(name);
            if (!figures.hasNext()) {
                throw new MeasurementException("it broke <here>");
            }
            return figures.next();
        }
    }

    private ComparisonDocument document(Unit unit, Contestant ours, Contestant... peers) throws Exception {
        return document(3, unit, ours, peers);
    }

    private ComparisonDocument document(int rounds, Unit unit, Contestant ours, Contestant... peers) throws Exception {
        return run(rounds, unit, new Known("line", ""), ours, peers);
    }

    private ComparisonDocument overFloor(int rounds, Contestant floor, Contestant ours, Contestant... peers)
            throws Exception {
        return run(rounds, Unit.SHORT_ONE_WAY, floor, ours, peers);
    }

    private ComparisonDocument run(int rounds, Unit unit, Contestant floor, Contestant ours, Contestant... peers)
            throws Exception {
        Scenario scenario = new Scenario("one", "A task", unit, ours, List.of(peers));
        List<Outcome> outcomes = new Comparison(List.of(scenario), rounds, floor, progress::add).run();
        return new ComparisonDocument(Map.of("rounds", rounds), outcomes);
    }

    /// Three rounds of two contestants, in two states of the machine: in the second one a cache line takes 0.1 longer.
    private ComparisonDocument withFloors() throws Exception {
        Known line = new Known("line", "", 0.03, 0.03, 0.05, 0.13, 0.13, 0.13, 0.13, 0.13, 0.13);
        return overFloor(3, line, new Known("ours", "", 0.15, 0.23, 0.24), new Known("peer", "", 0.09, 0.18, 0.19));
    }

    @Test
    void theSidesTakeTurns() throws Exception {
        document(Unit.ONE_WAY, new Known("ours", "", 1.0, 2.0, 3.0), new Known("peer", "", 2.0, 2.0, 9.0));

        assertThat(order).containsExactly("ours", "peer", "ours", "peer", "ours", "peer");
    }

    @Test
    void theFloorIsMeasuredBeforeAndAfterEach() throws Exception {
        ComparisonDocument document = withFloors();

        assertThat(order)
                .startsWith("line", "ours", "line", "peer", "line", "line", "ours")
                .hasSize(15);
        assertThat(document.outcomes().getFirst().isComplete()).isTrue();
        assertThat(floors(row(document, "ours"))).containsExactly(0.03, 0.13, 0.13);
        // It changed from 0.03 to 0.05 meanwhile.
        assertThat(floors(row(document, "peer"))).containsExactly(Double.NaN, 0.13, 0.13);
    }

    /// The median figure of ours less its median floor would be 0.1.
    @Test
    void theDifferenceIsThatOfEachRound() throws Exception {
        ComparisonDocument document = withFloors();

        assertThat(document.text().lines().map(String::strip))
                .anyMatch(line -> line.matches("scenario +median +low..high +floor +above +unit +ratio"))
                .anyMatch(line ->
                        line.matches("ours +0.230 +0.150..0.240 +0.130 +0.110 \\(0.1000?..0.120\\) +us one way"))
                .anyMatch(line -> line.matches("peer +0.180 .*0.130 +0.0550 \\(0.0500..0.0600\\) +us one way.*"))
                .anyMatch(line -> line.startsWith("floor: what a cache line takes"));
        assertThat(number(row(document, "ours"), "above_floor")).isCloseTo(0.11, within(1e-9));
        assertThat(number(row(document, "ours"), "above_floor_low")).isCloseTo(0.1, within(1e-9));
        assertThat(number(row(document, "ours"), "above_floor_high")).isCloseTo(0.12, within(1e-9));
        assertThat(row(document, "ours")).containsEntry("floor", 0.13);
    }

    @Test
    void aScenarioWithoutAFloorDoesNotMeasureIt() throws Exception {
        ComparisonDocument document = document(Unit.ONE_WAY, new Known("ours", "", 1.0, 2.0, 3.0));

        assertThat(order).doesNotContain("line");
        assertThat(document.text()).doesNotContain("floor", "above");
        assertThat(row(document, "ours")).doesNotContainKeys("floors", "floor", "above_floor");
    }

    /// The figures stay, with the floors that they have.
    @Test
    void aFloorThatFailsIsReportedAndNotMeasuredAgain() throws Exception {
        ComparisonDocument document = overFloor(
                3,
                new Known("line", "", 0.04, 0.04),
                new Known("ours", "", 0.1, 0.2, 0.3),
                new Known("peer", "", 0.2, 0.3, 0.4));

        assertThat(progress).containsOnlyOnce("round 1: one: line: FAILED: it broke <here>");
        assertThat(order).filteredOn("line"::equals).hasSize(3);
        assertThat(document.outcomes().getFirst().isComplete()).isFalse();
        assertThat(floors(row(document, "ours"))).containsExactly(0.04, Double.NaN, Double.NaN);
        assertThat(row(document, "peer"))
                .containsEntry("failure", "line: it broke <here>")
                .containsEntry("median", 0.3)
                .doesNotContainKeys("floor", "above_floor");
        assertThat(document.text().lines())
                .anyMatch(line -> line.matches(" +ours +0.200 .* 0.0400 +0.0600 \\(0.0600..0.0600\\) .*"))
                .anyMatch(line -> line.matches(" +peer +0.300 +0.200..0.400 +us one way .*"));
    }

    @Test
    void aContestantThatMeasuresTheFloorDuringItsRunKnowsBetter() throws Exception {
        Known ours = new Known("ours", "", 0.1, 0.2) {
            @Override
            public OptionalDouble floor() {
                return OptionalDouble.of(order.size() < 4 ? 0.05 : Double.NaN);
            }
        };
        ComparisonDocument document = overFloor(2, new Known("line", "", 0.03, 0.03, 0.03, 0.03), ours);

        assertThat(floors(row(document, "ours"))).containsExactly(0.05, Double.NaN);
    }

    @Test
    void theFloorOfAPeerThatFailsIsForgotten() throws Exception {
        ComparisonDocument document = overFloor(
                1,
                new Known("line", "", 0.03, 0.03, 0.05, 0.07),
                new Known("ours", "", 0.1),
                new Known("broken", ""),
                new Known("peer", "", 0.2));

        assertThat(row(document, "broken"))
                .containsEntry("failure", "it broke <here>")
                .doesNotContainKey("floors");
        assertThat(floors(row(document, "peer")))
                .satisfiesExactly(floor -> assertThat(floor).isCloseTo(0.06, within(1e-9)));
    }

    @Test
    void theRatioIsTheGeometricMeanOfTheRounds() throws Exception {
        ComparisonDocument latency =
                document(Unit.ONE_WAY, new Known("ours", "", 1.0, 2.0, 4.0), new Known("peer", "", 3.0, 3.0, 6.0));
        ComparisonDocument rate =
                document(Unit.RATE, new Known("ours", "", 1.0, 2.0, 8.0), new Known("peer", "", 4.0, 4.0, 4.0));

        assertThat(latency.text()).contains("ours", "2.00  1.00..4.00", "1.89 (1.50..3.00)\n");
        assertThat(row(latency, "peer"))
                .containsEntry("median", 3.0)
                .containsEntry("ratio_low", 1.5)
                .containsEntry("ratio_high", 3.0)
                .containsEntry("unstable", false);
        assertThat(rate.text()).contains("0.63 (0.25..2.00) unstable");
        assertThat(row(rate, "peer")).containsEntry("unstable", true);
        assertThat(row(rate, "ours"))
                .containsEntry("low", 1.0)
                .containsEntry("high", 8.0)
                .doesNotContainKey("ratio");
    }

    @Test
    void twiceAsGoodAndHalfAsGoodAreAlike() {
        Advantage advantage = Advantage.of(2, 0.5);

        assertThat(advantage.mean()).isCloseTo(1, within(1e-9));
        assertThat(advantage.isUnstable()).isTrue();
        assertThat(Advantage.of(1.0, 1.2).isUnstable()).isFalse();
    }

    @Test
    void aPeerThatFailsIsReportedAndNotMeasuredAgain() throws Exception {
        ComparisonDocument document =
                document(Unit.ONE_WAY, new Known("ours", "", 1.0, 1.0, 1.0), new Known("broken", ""));

        assertThat(order).containsOnlyOnce("broken");
        assertThat(document.outcomes().getFirst().isComplete()).isFalse();
        assertThat(document.text()).contains("broken", "failed");
        assertThat(row(document, "broken"))
                .containsEntry("failure", "it broke <here>")
                .doesNotContainKey("median");
    }

    @Test
    void aPeerThatIsNotInstalledIsLeftOut() throws Exception {
        ComparisonDocument document = document(
                Unit.ONE_WAY, new Known("ours", "", 1.0, 1.0, 1.0), new Known("absent", "apt install it", 1.0));

        assertThat(order).doesNotContain("absent");
        assertThat(document.outcomes().getFirst().isComplete()).isTrue();
        assertThat(document.text()).doesNotContain("absent");
    }

    @Test
    void anEarlierRunIsReadBack(@TempDir Path folder) throws Exception {
        ComparisonDocument old = document(5, Unit.ONE_WAY, new Known("ours", "", 1.0, 1.1, 1.2, 1.1, 1.0));
        Path file = Files.writeString(folder.resolve("old.json"), old.json());
        ComparisonDocument faster = document(5, Unit.ONE_WAY, new Known("ours", "", 0.5, 0.6, 0.7, 0.6, 0.5));
        ComparisonDocument same = document(5, Unit.ONE_WAY, new Known("ours", "", 1.0, 1.15, 1.3, 1.1, 1.2));
        ComparisonDocument few = document(3, Unit.ONE_WAY, new Known("ours", "", 0.5, 0.6, 0.7));

        List<Figure> earlier = ComparisonDocument.read(file).figures();

        assertThat(faster.changesSince(earlier).text()).contains("one ours", "-45.5 %", "better");
        assertThat(same.changesSince(earlier).text()).contains("within noise");
        assertThat(few.changesSince(earlier).text()).contains("too few rounds");
        Path wrong = Files.writeString(folder.resolve("wrong.json"), "{\"results\": []}");
        assertThatThrownBy(() -> ComparisonDocument.read(wrong))
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("is not a result of compare/run");
    }

    /// Differences are compared with differences, and never with the means of an earlier version.
    @Test
    void theChangeIsThatOfFigureFloorAndDifference(@TempDir Path folder) throws Exception {
        Path file = Files.writeString(folder.resolve("old.json"), withFloors().json());
        ComparisonDocument faster = overFloor(1, new Known("line", "", 0.03, 0.03), new Known("ours", "", 0.085));

        Grid changes = faster.changesSince(ComparisonDocument.read(file).figures());

        assertThat(changes.rows())
                .extracting(List::getFirst)
                .containsExactly("one ours, latency", "one ours, floor", "one ours, above the floor");
        assertThat(changes.rows().getLast()).contains("0.110", "0.0550", "-50.0 %");
        ComparisonDocument means = document(1, Unit.ONE_WAY, new Known("ours", "", 0.1));
        assertThat(faster.changesSince(means.figures()).rows()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"0.03", "\"0.03\"", "{}", "[\"0.03\"]", "[1e999]", "[0]", "[-0.03]", "[0.03, 0.03]"})
    void aDocumentWithABrokenFloorIsRejected(String floors, @TempDir Path folder) throws Exception {
        Path file = Files.writeString(folder.resolve("broken.json"), """
            {"schema": 1, "scenarios": [{"id": "one", "title": "A task", "unit": "us one way", "entries": [
            {"name": "ours", "figures": [0.1], "floors": %s, "median": 0.1, "low": 0.1, "high": 0.1}]}]}
            """.formatted(floors));

        assertThatThrownBy(() -> ComparisonDocument.read(file))
                .isInstanceOf(CommandFailure.class)
                .hasMessageContaining("broken.json: is not a result of compare/run: ")
                .hasMessageContaining("floors");
    }

    @Test
    void thePageShowsTheDifferences() throws Exception {
        String page = page(withFloors());

        assertThat(page).contains("A task, above the floor", "a cache line (floor)", "the median difference between");
        assertThat(page).containsPattern("\\[0.0,0.1(1|0999)[0-9]*,0.1[0-9]*,0.1(2|1999)[0-9]*,\"ours\"\\]");
    }

    @Test
    void thePageNamesEveryContestant() throws Exception {
        ComparisonDocument document =
                document(Unit.RATE, new Known("ours", "", 1.0, 2.0, 4.0), new Known("A & B", "", 4.0, 4.0, 4.0));

        String page = document.page(document.changesSince(List.of())).text();

        assertThat(page).contains("A &amp; B", "10^6 messages/s", "known figures", "\"kind\":\"BARS\"");
        assertThat(page).doesNotContain("{{", "Change since");
    }

    @Test
    void aDocumentThatIsReadIsPresentedAsItWas(@TempDir Path folder) throws Exception {
        ComparisonDocument run =
                document(Unit.RATE, new Known("ours", "", 1.0, 2.0, 8.0), new Known("peer", "", 4.0, 4.0, 4.0));
        Path file = Files.writeString(folder.resolve("run.json"), run.json());

        ComparisonDocument again = ComparisonDocument.read(file);

        assertThat(again.text()).isEqualTo(run.text());
        assertThat(again.json()).isEqualTo(run.json());
        assertThat(page(again)).isEqualTo(page(run)).contains("\"kind\":\"RATIOS\"", "Right of the line");
    }

    @Test
    void floorsAreReadBack(@TempDir Path folder) throws Exception {
        ComparisonDocument run = withFloors();
        Path file = Files.writeString(folder.resolve("run.json"), run.json());

        ComparisonDocument again = ComparisonDocument.read(file);

        assertThat(again.text()).isEqualTo(run.text()).contains("above");
        assertThat(again.json()).isEqualTo(run.json());
        assertThat(page(again)).isEqualTo(page(run));
    }

    /// Such as the last run, of which only the table was kept.
    @Test
    void aSummaryWithoutRoundsHasNoRanges(@TempDir Path folder) throws Exception {
        Path file = Files.writeString(folder.resolve("summary.json"), """
            {"schema": 1, "rounds": 3, "scenarios": [{"id": "one", "title": "A task", "unit": "us one way", "entries": [
            {"name": "rdmacomm send_lat", "median": 0.569, "low": 0.374, "high": 0.918},
            {"name": "Aeron IPC", "median": 0.66, "ratio": 1.17, "unstable": true}]}]}
            """);

        ComparisonDocument summary = ComparisonDocument.read(file);

        assertThat(summary.text().lines().map(String::stripTrailing))
                .anyMatch(line -> line.matches(" *rdmacomm send_lat +0.569 +0.374..0.918 +us one way"))
                .anyMatch(line -> line.matches(" *Aeron IPC +0.660 +us one way +1.17 unstable"));
        assertThat(page(summary)).contains("[0.0,0.66,0.66,0.66,\"Aeron\"]", "[0.0,1.17,1.17,1.17,\"Aeron\"]");
        assertThat(summary.figures()).extracting(Figure::name).containsExactly("one rdmacomm send_lat");
    }

    @Test
    void aLibraryIsItsNameWithoutTransportAndTest() {
        assertThat(Stream.of(
                                "rdmacomm send_lat",
                                "rdmacomm session",
                                "rdmacomm session, AOT cache",
                                "UCX shm ucp_put_bw",
                                "UCX tcp tag_lat",
                                "libfabric tcp",
                                "Aeron IPC, small log",
                                "plain SocketChannel",
                                "qperf tcp_lat")
                        .map(name ->
                                Entry.of(name, "", List.of(), List.of(), "").library()))
                .containsExactly(
                        "rdmacomm",
                        "rdmacomm",
                        "rdmacomm, AOT cache",
                        "UCX",
                        "UCX",
                        "libfabric",
                        "Aeron, small log",
                        "plain SocketChannel",
                        "qperf");
    }

    /// The page of a document, without a comparison with an earlier run.
    private static String page(ComparisonDocument document) throws Exception {
        return document.page(document.changesSince(List.of())).text();
    }

    private static List<Double> floors(Map<String, Object> row) {
        return ((List<?>) row.getOrDefault("floors", List.of()))
                .stream()
                        .map(floor -> floor instanceof Number number ? number.doubleValue() : Double.NaN)
                        .toList();
    }

    private static double number(Map<String, Object> row, String member) {
        return row.get(member) instanceof Number number ? number.doubleValue() : Double.NaN;
    }

    private static Map<String, Object> row(ComparisonDocument document, String name) throws Exception {
        List<?> scenarios = (List<?>) JSON.std.mapFrom(document.json()).get("scenarios");
        for (Object entry : (List<?>) ((Map<?, ?>) scenarios.getFirst()).get("entries")) {
            Map<String, Object> members = JSON.std.mapFrom(JSON.std.asString(entry));
            if (name.equals(members.get("name"))) {
                return members;
            }
        }
        throw new AssertionError("no entry " + name);
    }
}
