package io.rdmacomm.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.jr.ob.JSON;
import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.cli.report.Figure;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A comparison of contestants with known figures: the order, the medians, the ratios, and the documents.
class ComparisonTest {
    private final List<String> order = new ArrayList<>();

    /// Has these figures, one for each round; fails when there are no more.
    private final class Known implements Contestant {
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
        Scenario scenario = new Scenario("one", "A task", unit, ours, List.of(peers));
        List<Outcome> outcomes = new Comparison(List.of(scenario), rounds, _ -> {}).run();
        return new ComparisonDocument(Map.of("rounds", rounds), outcomes);
    }

    @Test
    void theSidesTakeTurns() throws Exception {
        document(Unit.ONE_WAY, new Known("ours", "", 1.0, 2.0, 3.0), new Known("peer", "", 2.0, 2.0, 9.0));

        assertThat(order).containsExactly("ours", "peer", "ours", "peer", "ours", "peer");
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
                        .map(name -> Entry.of(name, "", List.of(), "").library()))
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
