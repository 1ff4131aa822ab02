package io.rdmacomm.tests.comm;

import static io.rdmacomm.tests.comm.ConnectedPair.TIMEOUT;
import static io.rdmacomm.tests.comm.ConnectedPair.eventually;
import static io.rdmacomm.tests.fixture.SetupFailure.because;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.Deadlines;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.SetupFailedException.Reason;
import io.rdmacomm.comm.ThreadMode;
import io.rdmacomm.comm.progress.Threads;
import io.rdmacomm.comm.setup.FrameType;
import io.rdmacomm.tests.comm.FramedSocket.Frame;
import io.rdmacomm.tests.fixture.LeakCheck;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/// Clients that have proved nothing, say hello for many channels, and are silent after that; and clients that have to
/// come again because of them.
@ExtendWith(LeakCheck.class)
final class SilentSetupTest {
    /// As many as have a turn at a time, with the default limits.
    private static final int SHARE = 32;
    private static final int CHANNELS = 16;
    private static final SessionOptions OPTIONS =
            SessionOptions.defaults().withAddress("127.0.0.1", 0).withDevice("soft0");
    /// No call goes out from it, which might have the port that is to be listened on again.
    private static final String BUSY_ADDRESS = "127.0.0.2";
    // None of them is given up meanwhile.
    private static final SessionOptions PATIENT =
            OPTIONS.withDeadlines(Deadlines.defaults().withHandshake(Duration.ofMinutes(10)));

    private final List<FramedSocket> strangers = new ArrayList<>();

    @AfterEach
    void close() throws IOException {
        for (FramedSocket stranger : strangers) {
            stranger.close();
        }
    }

    private FramedSocket stranger(ServerSession server) throws IOException {
        FramedSocket stranger = new FramedSocket(server.port());
        strangers.add(stranger);
        // One more for the control channel.
        int[] ports = IntStream.range(0, CHANNELS + 1).map(i -> 20_000).toArray();
        stranger.send(FrameType.HELLO, FramedSocket.description(InetAddress.getLoopbackAddress(), ports));
        return stranger;
    }

    @Test
    void costsNeitherThreadsNorReceives() throws IOException {
        SessionOptions options = PATIENT.withName("patient").withThreadMode(ThreadMode.PER_QUEUE_PAIR);
        try (ServerSession server = ServerSession.listen(options)) {
            long before = regionBytes();
            for (int i = 0; i < SHARE; i++) {
                assertThat(stranger(server).next().is(FrameType.WELCOME)).isTrue();
            }
            assertThat(pollingThreads()).isEmpty();
            // The cells that peers announce receives in, and no receives: those are a mebibyte for each channel.
            assertThat(regionBytes() - before).isLessThan(SHARE * (64L << 10));
        }
    }

    private static List<String> pollingThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.startsWith("rdmacomm-data-") && name.contains("patient"))
                .toList();
    }

    private static long regionBytes() throws IOException {
        try (Stream<Path> files = Files.walk(Path.of(System.getProperty("rdmacomm.soft.directory")))) {
            return files.filter(file -> file.getFileName().toString().startsWith("region-"))
                    .mapToLong(SilentSetupTest::size)
                    .sum();
        }
    }

    private static long size(Path file) {
        try {
            return Files.size(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    @Tag("slow")
    void locksNobodyOutOfTheSameAddress() throws IOException {
        try (ServerSession server = ServerSession.listen(PATIENT)) {
            FramedSocket first = stranger(server);
            // Before the others come, so that it is the first to have a turn.
            assertThat(first.next().is(FrameType.WELCOME)).isTrue();
            for (int i = 1; i < 2 * SHARE; i++) {
                var _ = stranger(server);
            }
            for (int i = 0; i < 3; i++) {
                try (ClientSession client = ClientSession.connect(PATIENT.withPort(server.port()))) {
                    assertThat(server.accept(TIMEOUT).peerName()).isEqualTo(client.name());
                }
            }
            // The first that had a turn had to go.
            Frame end = first.next();
            assertThat(end.is(FrameType.BUSY)).isTrue();
            assertThat(end.text()).contains("try again");
        }
    }

    /// Otherwise a client would not know that it should come again.
    @Test
    @Tag("slow")
    void whoGetsNoTurnInTimeIsTold() throws IOException {
        Deadlines hasty = Deadlines.defaults().withHandshake(Duration.ofSeconds(2));
        try (ServerSession server = ServerSession.listen(OPTIONS.withDeadlines(hasty))) {
            List<FrameType> answers = new ArrayList<>();
            for (int i = 0; i < SHARE * 5; i++) {
                var _ = stranger(server);
            }
            for (FramedSocket stranger : strangers) {
                Frame first = stranger.next();
                answers.add(first.is(FrameType.BUSY) ? FrameType.BUSY : FrameType.WELCOME);
            }
            assertThat(answers).contains(FrameType.WELCOME, FrameType.BUSY);
            eventually(() -> server.endPoints().isEmpty());
        }
    }

    /// Says to each client that it should try again.
    private static final class BusyServer implements AutoCloseable {
        private final ServerSocket socket;
        private final AtomicInteger refused = new AtomicInteger();
        private final Thread thread;

        BusyServer() throws IOException {
            socket = new ServerSocket(0, 50, InetAddress.ofLiteral(BUSY_ADDRESS));
            thread = Thread.ofVirtual().start(() -> {
                try {
                    while (true) {
                        refuse(socket.accept());
                    }
                } catch (IOException _) {
                    // It was closed.
                }
            });
        }

        private void refuse(Socket client) throws IOException {
            ByteBuffer why = ByteBuffer.wrap("come later; try again".getBytes(StandardCharsets.UTF_8));
            try (FramedSocket framed = new FramedSocket(client)) {
                framed.answerGreeting();
                var _ = framed.next();
                framed.send(FrameType.BUSY, why);
                refused.incrementAndGet();
            }
        }

        int port() {
            return socket.getLocalPort();
        }

        @Override
        public void close() throws IOException {
            socket.close();
            // Until nobody accepts any more, the port is taken.
            Threads.join(thread);
        }
    }

    @Test
    void aClientThatIsToldToTriesAgain() throws Exception {
        CompletableFuture<ClientSession> connecting;
        int port;
        try (BusyServer busy = new BusyServer()) {
            port = busy.port();
            SessionOptions patient = OPTIONS.withAddress(BUSY_ADDRESS, port)
                    .withWaitForServer(true)
                    .withDeadlines(Deadlines.defaults().withConnect(TIMEOUT));
            connecting = CompletableFuture.supplyAsync(
                    () -> ClientSession.connect(patient),
                    task -> Thread.ofVirtual().start(task));
            eventually(() -> busy.refused.get() > 2);
        }
        try (ServerSession server = ServerSession.listen(OPTIONS.withAddress(BUSY_ADDRESS, port));
                ClientSession client = connecting.join()) {
            assertThat(server.accept(TIMEOUT).peerName()).isEqualTo(client.name());
        }
    }

    @Test
    void aClientGivesUpAtItsConnectDeadline() throws IOException {
        try (BusyServer busy = new BusyServer()) {
            SessionOptions hasty = OPTIONS.withAddress(BUSY_ADDRESS, busy.port())
                    .withDeadlines(Deadlines.defaults().withConnect(Duration.ofSeconds(1)));
            assertThatThrownBy(() -> ClientSession.connect(hasty))
                    .satisfies(because(Reason.BUSY))
                    .hasMessageContaining("try again");
            assertThat(busy.refused.get()).isGreaterThan(1);
        }
    }
}
