package io.rdmacomm.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.cli.terminal.CommandFailure;
import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.SessionOptions;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;

/// A server that goes on when a connection does not.
class BenchServerTest {
    private static final SessionOptions OPTIONS = SessionOptions.defaults().withAddress("127.0.0.1", 0);

    @Test
    void aConnectionThatEndsBeforeItsTestLeavesRoomForTheNext() throws InterruptedException {
        StringWriter log = new StringWriter();
        TrialPlan plan = new TrialPlan(BenchTest.SEND_LAT, 64, 1, 0, 1, false, 7);
        Thread serving;
        try (BenchServer server = new BenchServer(OPTIONS, new PrintWriter(log))) {
            serving = Thread.ofVirtual().start(() -> server.run(true));
            SessionOptions options = OPTIONS.withPort(server.port());
            try (ClientSession session = ClientSession.connect(options.withName(Benchmark.NAME));
                    SignalChannel signals =
                            new SignalChannel(session, session.endPoint().channel(0), "signals")) {
                signals.send(plan.toSignal());
                signals.expect(Signal.Kind.OK);
                ClientSession.connect(options.withName(Trial.NAME)).close();
                assertThatThrownBy(() -> signals.expect(Signal.Kind.READY))
                        .isInstanceOf(CommandFailure.class)
                        .hasMessageContaining("the other side says");

                try (Trial trial = Trial.open(signals, options, plan)) {
                    assertThat(trial.step(3, StepMode.CHECK, new long[4])).isNotNegative();
                }
            }
            serving.join();
        }
        assertThat(log.toString()).isEmpty();
    }
}
