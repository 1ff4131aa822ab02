package io.rdmacomm.cli.bench.trial;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.cli.command.CommandOutput;
import io.rdmacomm.cli.rig.Frame;
import io.rdmacomm.cli.rig.FrameChannel;
import io.rdmacomm.comm.ChannelOptions;
import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.ThreadMode;
import io.rdmacomm.comm.WorkMode;
import io.rdmacomm.verbs.AckTimeout;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.PathMtu;
import io.rdmacomm.verbs.PathOptions;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairAttributes;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.QueuePairType;
import io.rdmacomm.verbs.Rdma;
import io.rdmacomm.verbs.RetryOptions;
import io.rdmacomm.verbs.RnrTimer;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The server survives connections that fail.
class BenchServerTest {
    private static final int QUEUE_PAIR_NUMBERS = 1 << 24;
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
            try (ClientSession session = ClientSession.connect(options.withName(BenchServer.CONTROL));
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

    /// The port of a socket test needs no secret, so the first bytes of a connection tell whose it is.
    @Test
    void socketsOfStrangersAreClosedAndWrongDataIsFound() throws Exception {
        StringWriter log = new StringWriter();
        TrialPlan plan = new TrialPlan(BenchTest.TCP_LAT, 64, 1, 0, 1, false, 7, null, TransportService.RC);
        try (BenchServer server =
                new BenchServer(OPTIONS, new CommandOutput(new PrintWriter(log), new PrintWriter(log), "bench"))) {
            Thread.ofVirtual().start(() -> server.run(true));
            try (ClientSession session = ClientSession.connect(
                            OPTIONS.withPort(server.port()).withName(BenchServer.CONTROL));
                    FrameChannel<BenchMessage> control =
                            BenchMessage.over(session, session.endPoint().channel(0))) {
                control.send(plan.toFrame());
                int port = (int)
                        control.expect(BenchMessage.OK, BenchMessage.FAILED).number(0);
                new Socket(InetAddress.getLoopbackAddress(), port).close();
                try (Socket stranger = new Socket(InetAddress.getLoopbackAddress(), port)) {
                    stranger.getOutputStream().write(new byte[Long.BYTES]);
                    assertThat(stranger.getInputStream().read()).isEqualTo(-1);
                }
                try (Socket client = new Socket(InetAddress.getLoopbackAddress(), port)) {
                    client.getOutputStream().write(new byte[] {0, 0, 0, 0, 0, 0, 0, 7});
                    control.expect(BenchMessage.READY, BenchMessage.FAILED);
                    control.send(Frame.of(BenchMessage.STEP, 1, StepMode.CHECK.code()));
                    control.expect(BenchMessage.READY, BenchMessage.FAILED);
                    client.getOutputStream().write(new byte[64]);
                    assertThat(client.getInputStream().readNBytes(64)).hasSize(64);
                    control.send(Frame.of(BenchMessage.DONE));
                    assertThatThrownBy(() -> control.expect(BenchMessage.REPORT, BenchMessage.FAILED))
                            .hasMessageContaining("tcp_lat of 64 bytes: byte 0 of a message differs");
                }
                try (Trial trial = Trial.open(control, session, OPTIONS, plan)) {
                    assertThat(trial.step(3, StepMode.CHECK, Readings.ofEach(3)).cpuNanos())
                            .isNotNegative();
                }
            }
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
                            OPTIONS.withPort(server.port()).withName(BenchServer.CONTROL));
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
            try (ClientSession session = ClientSession.connect(options.withName(BenchServer.CONTROL));
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

    /// A server of tests that lose messages once answered to any host that its client named.
    @Test
    void noClientNamesAnotherHost() {
        StringWriter log = new StringWriter();
        TrialPlan plan = new TrialPlan(BenchTest.SEND_LAT, 64, 1, 0, 1, false, 7, null, TransportService.UD);
        try (BenchServer server =
                new BenchServer(OPTIONS, new CommandOutput(new PrintWriter(log), new PrintWriter(log), "bench"))) {
            Thread.ofVirtual().start(() -> server.run(true));
            try (ClientSession session = ClientSession.connect(
                            OPTIONS.withPort(server.port()).withName(BenchServer.CONTROL));
                    FrameChannel<BenchMessage> control =
                            BenchMessage.over(session, session.endPoint().channel(0))) {
                control.send(plan.toFrame());
                control.expect(BenchMessage.OK, BenchMessage.FAILED);
                Gid nowhere = Gid.of(InetAddress.ofLiteral("192.0.2.1"));
                control.send(Frame.of(
                        BenchMessage.QUEUE_PAIR,
                        "127.0.0.1",
                        17,
                        4711,
                        20_000,
                        nowhere.high(),
                        nowhere.low(),
                        1024,
                        4096,
                        1));

                Frame<BenchMessage> answer = control.receive();
                assertThat(answer.kind()).isEqualTo(BenchMessage.FAILED);
                assertThat(answer.text()).contains("queue pairs at 192.0.2.1 port 20000");
            }
        }
    }

    /// Data once went through port 1 and its preferred GID with the defaults, whatever was asked for.
    @ParameterizedTest
    @CsvSource({"false, RC", "true, RC", "false, UD"})
    void dataGoesThePathThatWasAskedFor(boolean inModes, TransportService service) {
        Modes modes = inModes ? new Modes(WorkMode.ADAPTIVE, ThreadMode.PER_QUEUE_PAIR) : null;
        PathOptions path = PathOptions.defaults().withMtu(PathMtu.MTU_512).withQuality(3, 104);
        RetryOptions retries =
                RetryOptions.defaults().withTimeout(new AckTimeout(19), 2).withReceiverNotReady(1, new RnrTimer(12));
        ConnectionOptions asked = ConnectionOptions.defaults().withPath(path).withRetries(retries);
        SessionOptions with = OPTIONS.withChannel(ChannelOptions.defaults().withConnection(asked));
        StringWriter log = new StringWriter();
        try (BenchServer server =
                new BenchServer(with, new CommandOutput(new PrintWriter(log), new PrintWriter(log), "bench"))) {
            Thread.ofVirtual().start(() -> server.run(true));
            SessionOptions options = with.withPort(server.port());
            try (ClientSession session = ClientSession.connect(options.withName(BenchServer.CONTROL));
                    FrameChannel<BenchMessage> control =
                            BenchMessage.over(session, session.endPoint().channel(0))) {
                TrialPlan plan = new TrialPlan(BenchTest.SEND_LAT, 8, 1, 0, 16, false, 7, modes, service);
                try (Trial trial = Trial.open(control, session, options, plan)) {
                    trial.step(5, StepMode.CHECK, Readings.ofEach(5));
                    List<QueuePairAttributes> connected = connected();

                    assertThat(connected)
                            .as("two control channels; with a data session two more, and the data channels")
                            .hasSize(service == TransportService.RC ? 8 : 4);
                    assertThat(connected).allSatisfy(attributes -> {
                        assertThat(attributes.pathMtu()).isEqualTo(PathMtu.MTU_512);
                        assertThat(attributes.addressVector().serviceLevel()).isEqualTo(3);
                        assertThat(attributes.addressVector().trafficClass()).isEqualTo(104);
                        assertThat(attributes.timeout().code()).isEqualTo(19);
                        assertThat(attributes.retryCount()).isEqualTo(2);
                        assertThat(attributes.rnrRetry()).isEqualTo(1);
                    });
                }
            }
        }
        assertThat(log.toString()).isEmpty();
    }

    /// The attributes of the queue pairs of this process that are connected.
    private static List<QueuePairAttributes> connected() {
        List<QueuePairAttributes> found = new ArrayList<>();
        for (Context context : Rdma.openContexts()) {
            for (int number = 0; number < QUEUE_PAIR_NUMBERS; number++) {
                QueuePair pair = context.queuePair(number);
                if (pair != null
                        && pair.options().type() == QueuePairType.RELIABLE_CONNECTED
                        && pair.state() == QueuePairState.READY_TO_SEND) {
                    found.add(pair.query());
                }
            }
        }
        return found;
    }

    private static List<String> eventThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.endsWith("-events"))
                .toList();
    }
}
