package io.rdmacomm.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.jr.ob.JSON;
import io.rdmacomm.tests.cli.Command.Result;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// `ping` between two processes.
class PingTest {
    @Test
    void pingsAreCountedCheckedAndReported() throws Exception {
        try (Command server = Command.start("ping", "--server", "--port", "0", "--count", "2")) {
            String peer = "localhost:" + server.port();

            Result few = Command.run("ping", peer, "--count", "3", "--interval", "0.001");
            Result many =
                    Command.run("ping", peer, "--count", "50", "--interval", "0", "--size", "100k", "--json", "-");

            assertThat(few.exitCode()).as(few.err()).isZero();
            assertThat(few.out())
                    .contains("ping 1:", "ping 3:", "correct", "3 pings, all correct", "p50")
                    .doesNotContain("p99");
            assertThat(many.exitCode()).as(many.err()).isZero();
            Map<String, Object> document = JSON.std.mapFrom(many.out());
            assertThat(document)
                    .containsEntry("pings", 50)
                    .containsEntry("bytes", 102_400)
                    .containsKey("p50_us");
            Result served = server.end();
            assertThat(served.exitCode()).isZero();
            assertThat(served.out()).contains(": 3 pings answered", ": 50 pings answered");
        }
    }

    @Test
    void clientsThatShareReceivesAreServedOrToldWhyNot() throws Exception {
        try (Command server =
                Command.start("ping", "--server", "--port", "0", "--shared-receives", "2", "--count", "2")) {
            String peer = "localhost:" + server.port();
            try (Command first = Command.start("ping", peer, "--interval", "3600")) {
                first.awaitLine("ping 1:");

                Result refused = Command.run("ping", peer);

                assertThat(refused.exitCode()).isEqualTo(1);
                assertThat(refused.err())
                        .contains("the shared receives have no room for another channel: 1 of 1 are open");
            }
            server.awaitLine("1 ping answered");
            Result next = Command.run("ping", peer, "--count", "20", "--interval", "0");

            assertThat(next.exitCode()).as(next.err()).isZero();
            assertThat(server.end().out()).contains(": 20 pings answered");
        }
        Result client = Command.run("ping", "localhost", "--shared-receives", "4");
        assertThat(client.exitCode()).isEqualTo(2);
        assertThat(client.err()).contains("--shared-receives is an option of `ping --server`");
    }

    @Test
    void theServerExitsOnCtrlC() throws Exception {
        try (Command server = Command.start("ping", "--server", "--port", "0")) {
            server.port();

            server.interrupt();

            assertThat(server.end().err()).isEmpty();
        }
    }

    @Test
    @Tag("slow")
    void ctrlCShowsTheSummaryAndTheServerSeesNoFailure() throws Exception {
        try (Command server = Command.start("ping", "--server", "--port", "0", "--count", "2")) {
            String peer = "localhost:" + server.port();
            for (String interval : List.of("3600", "0.0001")) {
                try (Command client = Command.start("ping", peer, "--count", "1000000000", "--interval", interval)) {
                    client.awaitLine("ping 1:");

                    client.signal("INT");

                    Result result = client.end();
                    assertThat(result.out()).contains("all correct; round trip");
                    assertThat(result.err()).isEmpty();
                    assertThat(result.exitCode()).isZero();
                }
            }
            assertThat(server.end().out()).contains("1 ping answered").doesNotContain("failed");
        }
    }

    @Test
    void theEndOfTheServerIsNoFailureOfItsClients() throws Exception {
        try (Command server = Command.start("ping", "--server", "--port", "0");
                Command client = Command.start("ping", "localhost:" + server.port(), "--interval", "3600")) {
            client.awaitLine("ping 1:");

            server.interrupt();

            Result result = server.end();
            assertThat(result.out()).doesNotContain("failed");
            assertThat(result.err()).isEmpty();
        }
    }

    @Tag("slow")
    @Test
    void whenNobodyReadsTheOutputTheClientEnds() throws Exception {
        try (Command server = Command.start("ping", "--server", "--port", "0", "--once")) {
            String peer = "localhost:" + server.port();
            try (Command client = Command.start("ping", peer, "--count", "1000000000", "--interval", "0.01")) {
                client.awaitLine("ping 1:");

                client.closeOutput();

                assertThat(client.exitCode()).isEqualTo(141);
                assertThat(client.complaints()).isEmpty();
            }
            assertThat(server.end().out()).contains("answered").doesNotContain("failed");
        }
    }

    @Test
    void aTakenPortIsReportedInOneLine() throws Exception {
        try (Command server = Command.start("ping", "--server", "--port", "0")) {
            Result second = Command.run("ping", "--server", "--port", server.port());

            assertThat(second.exitCode()).isEqualTo(1);
            assertThat(second.err().strip().lines()).hasSize(1);
        }
    }
}
