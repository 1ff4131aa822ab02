package io.rdmacomm.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Real pairs of processes.
@Tag("slow")
class ToolTest {
    private static final Setting SETTING = new Setting("rdmacomm", 0.05, 0, Optional.empty(), "");

    @ParameterizedTest
    @CsvSource({
        "nio-ping, ONE_WAY, 8",
        "nio-request, ROUND_TRIP, 8",
        "nio-stream, BANDWIDTH, 100000",
        "netty-ping, ONE_WAY, 8",
        "netty-stream, BANDWIDTH, 100000",
        "aeron-ping, SHORT_ONE_WAY, 8",
        "aeron-stream, RATE, 8",
        "aeron-stream, BANDWIDTH, 100000",
        "pipe-request, ROUND_TRIP, 8"
    })
    void everyJavaPeerGivesAFigure(String peer, Unit unit, long bytes) throws Exception {
        Contestant contestant = new Peers(SETTING).java(peer, "", peer, unit, bytes);

        assertThat(contestant.absence()).isEmpty();
        assertThat(contestant.measure()).isPositive().isLessThan(1e6);
    }

    @Test
    void theProgramsOfTheFloorMeasureAgainAndAgain() throws Exception {
        try (Floor floor = new Peers(SETTING).floor()) {
            for (int i = 0; i < 3; i++) {
                assertThat(floor.measure()).isPositive().isLessThan(1e6);
            }
        }
    }

    @Test
    void aFloorThatEndsSaysWhy() {
        try (Floor floor = new Floor(List.of("sh", "-c", "read line; echo no shared memory; exit 1"))) {
            assertThatThrownBy(floor::measure)
                    .isInstanceOf(MeasurementException.class)
                    .hasMessageContaining("a cache line has ended: no shared memory");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "jucx-send-ping, ONE_WAY, 8",
        "jucx-put-ping, SHORT_ONE_WAY, 8",
        "jucx-send-stream, RATE, 8",
        "jucx-send-stream, BANDWIDTH, 100000",
        "jucx-put-stream, RATE, 8",
        "jucx-put-stream, BANDWIDTH, 100000"
    })
    void jucxGivesAFigureOverEachTransport(String peer, Unit unit, long bytes) throws Exception {
        // Skipped where UCX is not installed.
        for (String transports : List.of(Scenarios.SHARED_MEMORY, Scenarios.TCP)) {
            Contestant contestant = new Peers(SETTING).jucx(peer, "", transports, peer, unit, bytes);
            assumeThat(contestant.absence()).isEmpty();

            assertThat(contestant.measure()).as(transports).isPositive().isLessThan(1e6);
        }
    }

    @Test
    void aProgramThatIsMissingIsNamedWithItsPackage() {
        Contestant contestant = tool("no-such-program", List.of());

        assertThat(contestant.absence()).isEqualTo("the program no-such-program is missing (a package)");
    }

    @Test
    void aServerThatEndsAndAClientThatFailsAreReported() {
        assertThatThrownBy(tool("sh", List.of("sh", "-c", "echo no device; exit 3"))::measure)
                .isInstanceOf(MeasurementException.class)
                .hasMessageContaining("ended before it listened: no device");
        assertThatThrownBy(tool("sh", List.of())::measure)
                .isInstanceOf(MeasurementException.class)
                .hasMessageContaining("ended with exit status 4: no server");
    }

    private static Contestant tool(String program, List<String> server) {
        return new Tool(
                SETTING,
                new Tool.Description(
                        program,
                        "",
                        program,
                        "a package",
                        Unit.ONE_WAY,
                        8,
                        false,
                        (port, _) -> new Programs.Pair(
                                server, List.of("sh", "-c", "echo no server; exit 4"), Map.of(), port, false),
                        _ -> 1));
    }
}
