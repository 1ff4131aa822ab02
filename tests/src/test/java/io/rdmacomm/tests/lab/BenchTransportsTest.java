package io.rdmacomm.tests.lab;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.jr.ob.JSON;
import io.rdmacomm.cli.RdmaCommand;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/// `bench` over the transports of the kernel's device that can lose messages.
@Tag("slow")
@EnabledIfEnvironmentVariable(named = "LAB", matches = "yes", disabledReason = "it needs rxe0 and siw0: lab/suite lab")
class BenchTransportsTest {
    private static final String COUNT = "100";

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @ParameterizedTest
    @CsvSource({"uc, 4, '8,5000'", "ud, 2, '8,1024'"})
    void messagesAreCounted(String transport, int tests, String sizes) throws Exception {
        int exitCode =
                bench("rxe0", "10.9.0.1", "--transport", transport, "-n", COUNT, "--sizes", sizes, "--json", "-");

        assertThat(exitCode).as(err.toString()).isZero();
        List<?> results = (List<?>) JSON.std.mapFrom(out.toString()).get("results");
        assertThat(results).hasSize(2 * tests).allSatisfy(row -> {
            Map<?, ?> figures = (Map<?, ?>) row;
            long sent = number(figures, "sent");
            long received = number(figures, "received");
            assertThat(figures.get("transport")).isEqualTo(transport);
            assertThat(number(figures, "lost")).isEqualTo(sent - received).isNotNegative();
            assertThat(received).isPositive();
            if (figures.containsKey("gbps")) {
                assertThat(sent).isEqualTo(Long.parseLong(COUNT));
                assertThat(number(figures, "iterations")).isEqualTo(received);
            } else {
                assertThat(figures.get("iterations")).hasToString(COUNT);
            }
        });
    }

    @Test
    void aDatagramHasAtMostTheMtuOfThePort() {
        assertThat(bench("rxe0", "10.9.0.1", "--transport", "ud", "--sizes", "2048"))
                .isEqualTo(2);
        assertThat(err.toString()).contains("size 2048 does not fit into a datagram, which has at most 1024 bytes");
    }

    @Test
    void aDeviceWithoutUnreliableConnectionsIsNamed() {
        assertThat(bench("siw0", "10.8.0.1", "--transport", "uc")).isEqualTo(2);
        assertThat(err.toString()).contains("siw0 has no unreliable connections");
    }

    private int bench(String device, String address, String... more) {
        String[] first = {"bench", "--device", device, "--bind", address, "--warmup", "0", "--no-floors"};
        String[] all = new String[first.length + more.length];
        System.arraycopy(first, 0, all, 0, first.length);
        System.arraycopy(more, 0, all, first.length, more.length);
        CommandLine commandLine = RdmaCommand.commandLine(all);
        commandLine.setOut(new PrintWriter(out, true));
        commandLine.setErr(new PrintWriter(err, true));
        return commandLine.execute(all);
    }

    private static long number(Map<?, ?> row, String name) {
        return ((Number) row.get(name)).longValue();
    }
}
