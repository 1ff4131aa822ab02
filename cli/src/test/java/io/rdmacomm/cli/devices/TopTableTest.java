package io.rdmacomm.cli.devices;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.verbs.statistics.ChannelStatistics;
import io.rdmacomm.verbs.statistics.ProcessIdentity;
import io.rdmacomm.verbs.statistics.PublishedChannel;
import io.rdmacomm.verbs.statistics.PublishedProcess;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// The table for people, at several widths and heights.
final class TopTableTest {
    private static final Path FOLDER = Path.of("/somewhere");
    private static final PublishedChannel CHANNEL = new PublishedChannel(
            1,
            "client-4711",
            "server-12 node7:2020",
            "data-0",
            16,
            3 << 20,
            1L << 30,
            // Three operations failed, and a handler threw.
            new ChannelStatistics(0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 1));
    private static final PublishedProcess PROCESS = new PublishedProcess(
            new ProcessIdentity(4711, 1, 1), "rdmacomm bench --tests write_bw", 0, 0, 0, List.of(CHANNEL));
    private static final Rates RATES = new Rates(1_234_567, 0, 0, 3.5 * (1L << 30), 12, 0.25);

    private static Sample sample(int rows, PublishedProcess process, Sampler.HostTcp tcp, String... problems) {
        List<Row> all = new ArrayList<>();
        for (int i = 0; i < rows; i++) {
            all.add(new Row(process, CHANNEL, i == 0 ? RATES : null));
        }
        return new Sample(FOLDER, List.of(process), all, tcp, List.of(problems));
    }

    private static List<String> lines(int width, int height) {
        return TopTable.lines(sample(2, PROCESS, null), width, height);
    }

    @Test
    void aRowHasAllFigures() {
        List<String> lines = lines(TopTable.UNLIMITED, TopTable.UNLIMITED);

        assertThat(lines.get(0)).isEqualTo("1 process, 2 channels");
        assertThat(lines.get(2).split(" +"))
                .containsExactly(
                        "",
                        "pid",
                        "command",
                        "session",
                        "peer",
                        "channel",
                        "op/s",
                        "msg/s",
                        "in",
                        "B/s",
                        "out",
                        "B/s",
                        "wstall/s",
                        "cstall/s",
                        "errors",
                        "flight",
                        "memory",
                        "limit");
        assertThat(lines.get(3))
                .contains("4711", "bench --tests write_bw", "client-4711", "server-12 node7:2020", "data-0")
                .endsWith("1.23M      0       0  3.50Gi       12      0.3      4     16 3.00Mi 1.00Gi");
        assertThat(lines.get(4))
                .as("no rates yet")
                .endsWith("-      -       -       -        -        -      4     16 3.00Mi 1.00Gi");
    }

    @Test
    void memoryMayBeUnknownOrUnlimited() {
        PublishedChannel socket = new PublishedChannel(1, "sockets on soft0", "", "", 0, new ChannelStatistics());
        PublishedChannel session =
                new PublishedChannel(2, "free", "", "", 0, 4096, Long.MAX_VALUE, new ChannelStatistics());
        List<Row> rows = Stream.of(socket, session)
                .map(channel -> new Row(PROCESS, channel, null))
                .toList();
        List<String> lines = TopTable.lines(
                new Sample(FOLDER, List.of(PROCESS), rows, null, List.of()), TopTable.UNLIMITED, TopTable.UNLIMITED);
        assertThat(lines.get(3)).endsWith("0      0      -      -");
        assertThat(lines.get(4)).endsWith("0      0 4.00Ki      -");
    }

    @Test
    void aNarrowTerminalHasFewerColumnsAndNoLineIsTooLong() {
        for (int width = 20; width < 200; width++) {
            int most = width;
            assertThat(lines(width, 50)).allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(most));
        }
        assertThat(lines(80, 50).get(2))
                .contains("pid", "command", "peer", "channel", "op/s", "errors", "flight")
                .doesNotContain("session", "stall", "limit");
        assertThat(lines(80, 50).get(3)).contains("bench ~", "~ node7:2020", "data-0");
        assertThat(lines(70, 50).get(2)).contains("peer", "errors").doesNotContain("channel", "flight");
    }

    @Test
    void aLowTerminalSaysThatThereIsMore() {
        List<String> lines = TopTable.lines(sample(30, PROCESS, null), 120, 10);
        assertThat(lines).hasSize(10);
        assertThat(lines.getLast()).isEqualTo("24 more lines: enlarge the window");
    }

    @Test
    void tcpProblemsAndChannelsLeftOutHaveALine() {
        Sampler.HostTcp tcp = Sampler.HostTcp.between(
                new TcpStatistics(0, 1000, 5, 0, 0, 0), new TcpStatistics(0, 3000, 9, 0, 1, 0), 2);
        PublishedProcess crowded =
                new PublishedProcess(PROCESS.identity(), PROCESS.command(), 0, 0, 7, List.of(CHANNEL));

        List<String> lines =
                TopTable.lines(sample(1, crowded, tcp, "x: wrong checksum"), TopTable.UNLIMITED, TopTable.UNLIMITED);

        assertThat(lines)
                .contains(
                        "TCP of this host: 1.00k segments/s out, 2/s retransmitted, 0.5 timeouts/s; 9 retransmitted"
                                + " since boot",
                        "7 more channels have no room in the files of their processes",
                        "unreadable: x: wrong checksum");
    }

    @Test
    void nothingToShowIsExplained() {
        Sample nothing = new Sample(FOLDER, List.of(), List.of(), null, List.of());
        assertThat(TopTable.lines(nothing, 200, 20))
                .containsExactly(
                        "0 processes, 0 channels", "", "no process of this user publishes counters in /somewhere");
    }

    @Test
    void figuresHaveThreeDigits() {
        assertThat(Stream.of(0.0, 0.4, 12.0, 99.96, 999.4, 999.6, 1000.0, 12_345.0, 999_600.0, 3.2e12, 1e18)
                        .map(Figures::decimal))
                .containsExactly("0", "0.4", "12", "100", "999", "1.00k", "1.00k", "12.3k", "1.00M", "3.20T", "1.00E");
        assertThat(Stream.of(0.0, 512.0, 1023.0, 1024.0, 1536.0, 0x1p30).map(Figures::bytes))
                .containsExactly("0", "512", "1.00Ki", "1.00Ki", "1.50Ki", "1.00Gi");
        assertThat(Figures.decimal(null)).isEqualTo("-");
    }
}
