package io.rdmacomm.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.cli.terminal.CommandFailure;
import io.rdmacomm.cli.terminal.CommandOutput;
import io.rdmacomm.cli.wire.Frame;
import io.rdmacomm.cli.wire.FrameChannel;
import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.ThreadMode;
import io.rdmacomm.comm.WorkMode;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The server survives connections that fail.
class BenchServerTest {
    private static final SessionOptions OPTIONS = SessionOptions.defaults().withAddress("127.0.0.1", 0);

    @Test
    void aConnectionThatEndsBeforeItsTestLeavesRoomForTheNext() throws InterruptedException {
        StringWriter log = new StringWriter();
        TrialPlan plan = new TrialPlan(BenchTest.SEND_LAT, 64, 1, 0, 1, false, 7, null, TransportService.RC);
        Thread serving;
        try (BenchServer server =
                new BenchServer(OPTIONS, new CommandOutput(new PrintWriter(log), new PrintWriter(log), "bench"))) {
            serving = Thread.ofVirtual().start(() -> server.run(true));
            SessionOptions options = OPTIONS.withPort(server.port());
            try (ClientSession session = ClientSession.connect(options.withName(Benchmark.NAME));
                    FrameChannel<BenchMessage> control =
                            BenchMessage.over(session, session.endPoint().channel(0))) {
                control.send(plan.toFrame());
                control.expect(BenchMessage.OK, BenchMessage.FAILED);
                ClientSession.connect(options.withName(Trial.NAME)).close();
                assertThatThrownBy(() -> control.expect(BenchMessage.READY, BenchMessage.FAILED))
                        .isInstanceOf(CommandFailure.class)
                        .hasMessageContaining("the peer reports");

                try (Trial trial = Trial.open(control, session, options, plan)) {
                    assertThat(trial.step(3, StepMode.CHECK, Readings.ofEach(3)).cpuNanos())
                            .isNotNegative();
                }
            }
            serving.join();
        }
        assertThat(log.toString()).isEmpty();
    }

    /// It once opened the file that the client named, wrote into it, and deleted it.
    @Test
    void noClientChoosesAFileForTheServer(@TempDir Path folder) throws IOException {
        Path victim = folder.resolve("rdmacomm-floor-1");
        byte[] content = new byte[4096];
        Arrays.fill(content, (byte) -1);
        Arrays.fill(content, 1024, 4096, (byte) 7);
        Files.write(victim, content);
        StringWriter log = new StringWriter();
        try (BenchServer server =
                new BenchServer(OPTIONS, new CommandOutput(new PrintWriter(log), new PrintWriter(log), "bench"))) {
            Thread.ofVirtual().start(() -> server.run(true));
            try (ClientSession session = ClientSession.connect(
                            OPTIONS.withPort(server.port()).withName(Benchmark.NAME));
                    FrameChannel<BenchMessage> control =
                            BenchMessage.over(session, session.endPoint().channel(0))) {
                for (int i = 0; i < 2; i++) {
                    control.send(Frame.of(BenchMessage.FLOOR, victim.toString()));
                    String named = control.receive().text();
                    control.send(Frame.of(BenchMessage.FAILED));

                    assertThat(victim).hasBinaryContent(content);
                    assertThat(named).matches("rdmacomm-floor-[0-9]+");
                }
            }
        }
    }

    /// The threads show it: in these modes each session has one that is called after its name.
    @Test
    void bothSidesUseTheModesOfThePlan() {
        Modes modes = new Modes(WorkMode.EPOLL, ThreadMode.PER_QUEUE_PAIR);
        StringWriter log = new StringWriter();
        try (BenchServer server =
                new BenchServer(OPTIONS, new CommandOutput(new PrintWriter(log), new PrintWriter(log), "bench"))) {
            Thread.ofVirtual().start(() -> server.run(true));
            SessionOptions options = OPTIONS.withPort(server.port()).withThreadMode(ThreadMode.CALLER);
            try (ClientSession session = ClientSession.connect(options.withName(Benchmark.NAME));
                    FrameChannel<BenchMessage> control =
                            BenchMessage.over(session, session.endPoint().channel(0))) {
                for (BenchTest test :
                        List.of(BenchTest.SEND_LAT, BenchTest.READ_LAT, BenchTest.ATOMIC_LAT, BenchTest.REQUEST_LAT)) {
                    TrialPlan plan = new TrialPlan(test, 8, 1, 0, 16, false, 7, modes, TransportService.RC);
                    try (Trial trial = Trial.open(control, session, options, plan)) {
                        assertThat(eventThreads())
                                .containsExactlyInAnyOrder(
                                        "rdmacomm-bench server-events", "rdmacomm-bench data-events");
                        trial.step(50, StepMode.CHECK, Readings.ofEach(50));
                        assertThat(trial.step(20, StepMode.IDLE, Readings.ofAll())
                                        .client()
                                        .nanos())
                                .isGreaterThanOrEqualTo(20_000_000);
                        trial.step(50, StepMode.CHECK, Readings.ofEach(50));
                    }
                }
            }
        }
        assertThat(log.toString()).isEmpty();
    }

    private static List<String> eventThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.endsWith("-events"))
                .toList();
    }
}
