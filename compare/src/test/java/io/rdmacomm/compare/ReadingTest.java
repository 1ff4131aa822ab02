package io.rdmacomm.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.offset;

import io.rdmacomm.compare.ProgramRun.Figure;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Figures are read from what the programs print; the texts are theirs.
class ReadingTest {
    private static final String UCX = """
            |     Test     | # iterations | 50.0%ile | average | overall |  average |  overall |  average  |  overall  |
            +--------------+--------------+----------+---------+---------+----------+----------+-----------+-----------+
                                   20000      0.163     7.350     7.250        1.04     1000.00      136046      2000000
            """;

    @Test
    void ucx() {
        assertThat(Peers.ucxFigure(UCX, Unit.ONE_WAY)).isEqualTo(7.25);
        assertThat(Peers.ucxFigure(UCX, Unit.SHORT_ONE_WAY)).isEqualTo(0.163);
        assertThat(Peers.ucxFigure(UCX, Unit.BANDWIDTH)).isCloseTo(8.388608, offset(1e-6));
        assertThat(Peers.ucxFigure(UCX, Unit.RATE)).isEqualTo(2.0);
        assertThat(Peers.ucxFigure("no such transport", Unit.RATE)).isZero();
    }

    /// The whole document of a run, from a program in the place of rdmacomm.
    @ParameterizedTest
    @CsvSource({
        "0.2, 0.15, 0.05, 0.15",
        "0.13, 0.15, 0.15, NaN", // three parts in the slow state, but most samples in the fast one
        "0.13, 0.15, 0.09, NaN"
    })
    void rdmacommGivesItsMedianAndItsFloor(
            double p50, double floor, double above, double expected, @TempDir Path folder) throws Exception {
        Path program = Files.writeString(
                folder.resolve("rdmacomm"), """
                #!/bin/sh
                echo "$@" >%s
                echo '{"results": [{"avg_us": 9, "p50_us": %s, "floor_us": %s, "above_floor_us": %s}]}'
                """.formatted(folder.resolve("words"), p50, floor, above));
        Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
        Setting setting = new Setting(program.toString(), 1, 1, Optional.empty(), "");
        Rdmacomm bench = new Rdmacomm(setting, Unit.SHORT_ONE_WAY, "write_lat", 8, List.of(), Map.of());

        assertThat(bench.floor()).isEmpty();
        assertThat(bench.measure()).isEqualTo(p50);
        assertThat(bench.floor().orElseThrow()).isEqualTo(expected, offset(1e-9));
        assertThat(folder.resolve("words")).content().doesNotContain("--no-samples", "--no-floors");
    }

    @Test
    void libfabric() {
        String output = """
                bytes   #sent   #ack     total       time     MB/sec    usec/xfer   Mxfers/sec
                8       1k      =1k      15k         0.00s      8.00       1.01       0.99
                """;

        assertThat(Peers.libfabricFigure(output)).isEqualTo(1.01);
        assertThat(Peers.libfabricFigure("")).isZero();
    }

    @Test
    void iperf3() {
        String output = """
                {"end": {"sum_received": {"bits_per_second": 4.0e10},
                         "cpu_utilization_percent": {"host_total": 99.0, "remote_total": 51.0}}}
                """;

        assertThat(Peers.iperfFigure(output, Unit.BANDWIDTH)).isEqualTo(40.0);
        assertThat(Peers.iperfFigure(output, Unit.CPU)).isEqualTo(300_000.0);
        for (Unit unit : List.of(Unit.BANDWIDTH, Unit.CPU)) {
            assertThat(Peers.iperfFigure("{\"error\": \"unable to connect\"}", unit))
                    .isZero();
            assertThat(Peers.iperfFigure("unable to connect", unit)).isZero();
        }
    }

    @Test
    void qperfIsDoubledToARoundTrip() {
        assertThat(Peers.qperfFigure("tcp_lat:\n    latency  =  26.8 us\n")).isCloseTo(53.6, offset(1e-9));
        assertThat(Peers.qperfFigure("tcp_lat:\n    latency  =  950 ns\n")).isCloseTo(1.9, offset(1e-9));
        assertThat(Peers.qperfFigure("failed to connect")).isZero();
    }

    @Test
    void perftest() {
        String output = """
                 #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]
                 64      1000          10.50          99.00        11.20              11.50            2.00
                """;

        assertThat(Peers.perftestFigure(output, 64, 5)).isEqualTo(11.5);
        assertThat(Peers.perftestFigure(output, 8, 5)).isZero();
    }

    @Test
    void javaStreamsReportMessagesPerMicrosecond() {
        assertThat(Peers.javaFigure("figure 0.5\n", Unit.BANDWIDTH, 1 << 20)).isCloseTo(4194.304, offset(1e-6));
        assertThat(Peers.javaFigure("figure 0.5\n", Unit.RATE, 8)).isEqualTo(0.5);
        assertThat(Peers.javaFigure("WARNING\nfigure 3.25\n", Unit.ONE_WAY, 8)).isEqualTo(3.25);
    }

    @Test
    void aProgramPrintsItsFigures() throws MeasurementException {
        String figures = "figure cold 10.5\nlog\nfigure warm 20.0\nfigure cpu 3.0\n";
        String proof = "rdmacomm: connect to /127.0.0.1:1: RDMA (1)\n";

        assertThat(ProgramRun.read(figures, false))
                .isEqualTo(Map.of(Figure.COLD, 10.5, Figure.WARM, 20.0, Figure.CPU, 3.0));
        assertThat(ProgramRun.read(proof + figures, true)).containsEntry(Figure.WARM, 20.0);
        assertThatThrownBy(() -> ProgramRun.read(figures, true))
                .isInstanceOf(MeasurementException.class)
                .hasMessageStartingWith("no connection went over RDMA");
    }

    @Test
    void jucxIsLeftOutWithTheReason() {
        String warning = "ucp_context.c:1849 UCX WARN UCP API version is incompatible\n";

        assertThat(Peers.jucxAbsence("jucx works\n" + warning)).isEmpty();
        assertThat(Peers.jucxAbsence("jucx fails: libucp.so.0: cannot open shared object file\n"))
                .isEqualTo("jucx fails: libucp.so.0: cannot open shared object file"
                        + " (it needs UCX: Debian package libucx0, on amd64)");
        assertThat(Peers.jucxAbsence("SIGSEGV")).startsWith("jucx ended its JVM (it needs UCX");
    }
}
