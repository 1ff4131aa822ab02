package io.rdmacomm.tests.comm;

import static io.rdmacomm.tests.comm.ConnectedPair.TIMEOUT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.EndPointState;
import io.rdmacomm.comm.PeerFailedException;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.WorkMode;
import io.rdmacomm.tests.fixture.JavaCommand;
import io.rdmacomm.tests.fixture.LeakCheck;
import io.rdmacomm.verbs.RdmaException;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// A process that had no file descriptors or no memory left for a while goes on: the threads that serve others are
/// there, and endpoints work or say that they have failed.
@ExtendWith(LeakCheck.class)
@Timeout(value = 5, unit = TimeUnit.MINUTES)
final class ExhaustionTest {
    private static final SessionOptions OPTIONS = SessionOptions.defaults().withAddress("127.0.0.1", 0);
    private static final int DESCRIPTORS = 150;
    private static final int STRANGERS = 400;
    private static final int WAVES = 3;

    private static void eventually(String what, Condition condition) throws IOException {
        long deadline = System.nanoTime() + TIMEOUT.toNanos();
        while (!condition.holds()) {
            assertThat(System.nanoTime()).as(what).isLessThan(deadline);
            Thread.onSpinWait();
        }
    }

    private interface Condition {
        boolean holds() throws IOException;
    }

    /// Its log has not been used before, and needs a file for the first line.
    @Test
    @Tag("slow")
    void aServerWithoutFileDescriptorsAcceptsClientsAfterwards() throws IOException {
        try (ExhaustedServer server = new ExhaustedServer(DESCRIPTORS, "64m")) {
            for (int wave = 0; wave < WAVES; wave++) {
                List<Socket> strangers = new ArrayList<>();
                try {
                    for (int i = 0; i < STRANGERS; i++) {
                        strangers.add(new Socket(InetAddress.getLoopbackAddress(), server.port()));
                    }
                    eventually("all descriptors are taken", () -> server.descriptors() >= DESCRIPTORS);
                } finally {
                    for (Socket stranger : strangers) {
                        stranger.close();
                    }
                }
                eventually("they are free again", () -> server.descriptors() < DESCRIPTORS / 2);
            }
            reaches(server, connectAfterStrangers(server));
        }
    }

    /// The JDK opens files when the first virtual thread waits for a socket. If it cannot, none can ever wait.
    @Test
    void aServerMayHaveOneDescriptorForItsFirstClient() throws IOException {
        try (ExhaustedServer server = new ExhaustedServer(DESCRIPTORS, "64m")) {
            server.takeDescriptors();
            try (Socket stranger = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
                stranger.setSoTimeout(500);
                assertThatThrownBy(() -> stranger.getInputStream().read()).isInstanceOf(SocketTimeoutException.class);
            }
            server.freeDescriptors();
            reaches(server, connect(server));
        }
    }

    /// Strangers that have closed may still wait to be accepted. They take descriptors once more, and the client that
    /// comes right behind them may get none.
    private static ClientSession connectAfterStrangers(ExhaustedServer server) {
        long deadline = System.nanoTime() + TIMEOUT.toNanos();
        while (true) {
            try {
                return connect(server);
            } catch (PeerFailedException e) {
                if (System.nanoTime() - deadline > 0) {
                    throw e;
                }
            }
        }
    }

    private static ClientSession connect(ExhaustedServer server) {
        return ClientSession.connect(OPTIONS.withPort(server.port()));
    }

    /// Sends until the server has received something.
    private static void reaches(ExhaustedServer server, ClientSession session) throws IOException {
        try (ClientSession client = session) {
            RdmaBuffer buffer = client.allocate("message", 64);
            long before = server.received();
            eventually("a message arrives", () -> {
                client.endPoint().channel(0).blocking().send(buffer.block(0));
                return server.received() > before;
            });
        }
    }

    @Test
    @Tag("slow")
    void aServerWithoutMemoryLosesNoThreadAndSaysWhatHasFailed() throws Exception {
        try (ExhaustedServer server = new ExhaustedServer(1024, "32m");
                ClientSession client = connect(server)) {
            EndPoint endPoint = client.endPoint();
            RdmaBuffer buffer = client.allocate("message", 64);
            CompletableFuture<Void> sending = new CompletableFuture<>();
            Thread sender = Thread.ofPlatform().start(() -> {
                try {
                    while (!sending.isDone()) {
                        endPoint.channel(0).blocking(Duration.ofSeconds(1)).send(buffer.block(0));
                    }
                } catch (RdmaException e) {
                    // It has failed, or the server had no memory to receive.
                    sending.complete(null);
                }
            });
            String ended = server.fill();
            sending.complete(null);
            sender.join();
            assertThat(ended).as("threads that have ended").isEqualTo("[]");

            long before = server.received();
            eventually("messages arrive, or the endpoint says why not", () -> {
                try {
                    endPoint.channel(0).blocking(Duration.ofSeconds(1)).send(buffer.block(0));
                } catch (RdmaException e) {
                    return endPoint.state() != EndPointState.READY;
                }
                return server.received() > before;
            });
            reaches(server, connect(server));
        }
    }

    /// Each run is a process of its own.
    @ParameterizedTest
    @EnumSource(
            value = WorkMode.class,
            names = {"COMPLETION_CHANNEL", "EPOLL"})
    @Tag("slow")
    @Timeout(value = 30, unit = TimeUnit.MINUTES)
    void endsWithoutMemoryServeOrFailTogether(WorkMode mode) throws Exception {
        runPairs(mode, 25);
    }

    private static List<String> command(WorkMode mode) {
        List<String> command = JavaCommand.of(ExhaustedPair.class, List.of("-Xmx32m"));
        command.add(mode.name());
        return command;
    }

    private static void runPairs(WorkMode mode, int runs) throws Exception {
        for (int run = 0; run < runs; run++) {
            // The logs of a process without memory are long and say nothing.
            Process process = new ProcessBuilder(command(mode))
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            try (BufferedReader output = process.inputReader()) {
                assertThat(output.readLine()).as("run %d", run).startsWith(ExhaustedPair.AGREED);
            } finally {
                process.destroyForcibly();
            }
        }
    }

    /// An interrupt of all threads, as some build tools do, closes the channel that a thread waits for.
    @Test
    void aServerWhosePortSomebodyElseHasClosedEnds() throws InterruptedException {
        try (ServerSession server = ServerSession.listen(OPTIONS.withName("interrupted"))) {
            Thread accepting = Thread.getAllStackTraces().keySet().stream()
                    .filter(thread -> thread.getName().equals("rdmacomm-accept-interrupted"))
                    .findFirst()
                    .orElseThrow();
            // It forgets an interrupt that comes while it does not wait.
            long deadline = System.nanoTime() + TIMEOUT.toNanos();
            while (accepting.isAlive() && System.nanoTime() < deadline) {
                accepting.interrupt();
                var _ = accepting.join(Duration.ofMillis(10));
            }

            assertThat(accepting.isAlive()).isFalse();
            assertThat(server.isOpen()).isFalse();
            assertThatThrownBy(() -> server.accept(TIMEOUT)).hasMessageContaining("was closed from outside");
        }
    }
}
