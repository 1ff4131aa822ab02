package io.rdmacomm.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.tests.cli.Command.Result;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.PathMtu;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairAttributes;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.Rdma;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/// The device options of `ping`, `bench`, `send` and `recv`.
class DeviceOptionsTest {
    private static final int QUEUE_PAIR_NUMBERS = 1 << 24;

    @Test
    void applyToTheQueuePair() {
        CompletableFuture<Result> client;
        try (ServerSession server =
                ServerSession.listen(SessionOptions.defaults().withPort(0))) {
            String[] command = {
                "ping", "localhost:" + server.port(),
                "--device", "soft0",
                "--ib-port", "1",
                "--gid-index", "0",
                "--mtu", "512",
                "--sl", "3",
                "--tclass", "104",
                "--qp-timeout", "17",
                "--retry", "2",
                "--rnr-retry", "1"
            };
            client = CompletableFuture.supplyAsync(() -> Command.run(command));
            try (EndPoint peer = server.accept(Duration.ofMinutes(1))) {
                assertThat(peer.channels()).hasSize(1);
                List<QueuePairAttributes> connected = connectedWithTimeout(17);

                assertThat(connected)
                        .as("the control channel and the data channel")
                        .hasSize(2);
                assertThat(connected).allSatisfy(attributes -> {
                    assertThat(attributes.pathMtu()).isEqualTo(PathMtu.MTU_512);
                    assertThat(attributes.addressVector().serviceLevel()).isEqualTo(3);
                    assertThat(attributes.addressVector().trafficClass()).isEqualTo(104);
                    assertThat(attributes.addressVector().sourceGidIndex()).isZero();
                    assertThat(attributes.addressVector().port()).isEqualTo(1);
                    assertThat(attributes.retryCount()).isEqualTo(2);
                    assertThat(attributes.rnrRetry()).isEqualTo(1);
                });
            }
        }
        assertThat(client.join().exitCode()).as("nobody answers its pings").isEqualTo(1);
    }

    /// The attributes of this process's queue pairs that are connected with this timeout.
    private static List<QueuePairAttributes> connectedWithTimeout(int code) {
        List<QueuePairAttributes> found = new ArrayList<>();
        for (Context context : Rdma.openContexts()) {
            for (int number = 0; number < QUEUE_PAIR_NUMBERS; number++) {
                QueuePair pair = context.queuePair(number);
                if (pair != null && pair.state() == QueuePairState.READY_TO_SEND) {
                    QueuePairAttributes attributes = pair.query();
                    if (attributes.timeout().code() == code) {
                        found.add(attributes);
                    }
                }
            }
        }
        return found;
    }

    @Test
    void areCheckedFirst() {
        for (String wrong : new String[] {"--sl 16", "--mtu 1000", "--retry 8", "--gid-index -2", "--ib-port 0"}) {
            String[] option = wrong.split(" ", 2);
            Result result = Command.run("ping", "localhost:1", option[0], option[1]);

            assertThat(result.exitCode()).as(wrong).isEqualTo(2);
            assertThat(result.err()).contains(option[0], option[1]);
        }
    }

    @Test
    void aMissingPartitionKeyIsReportedInOneLine() {
        try (ServerSession server =
                ServerSession.listen(SessionOptions.defaults().withPort(0))) {
            Result result = Command.run("ping", "localhost:" + server.port(), "--device", "soft0", "--pkey-index", "1");

            assertThat(result.exitCode()).isEqualTo(1);
            assertThat(result.err()).contains("port 1 of soft0 has no partition key 1");
            assertThat(result.err().strip().lines()).hasSize(1);
        }
    }

    @Test
    void aMissingGidIsReportedInOneLine() {
        Result result = Command.run("ping", "localhost:1", "--device", "soft0", "--gid-index", "7");

        assertThat(result.exitCode()).isEqualTo(1);
        assertThat(result.err()).contains("ibv_query_gid", "soft0");
        assertThat(result.err().strip().lines()).hasSize(1);
    }
}
