package io.rdmacomm.tests.comm;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.setup.FrameType;
import io.rdmacomm.tests.comm.FramedSocket.Frame;
import io.rdmacomm.tests.fixture.Fabric;
import io.rdmacomm.tests.fixture.FarNamespace;
import io.rdmacomm.tests.fixture.LeakCheck;
import io.rdmacomm.tests.fixture.LeftOut;
import io.rdmacomm.verbs.RdmaException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/// Peers that say that their queue pairs are somewhere else: nothing connects there.
@ExtendWith(LeakCheck.class)
final class PeerLocationTest {
    private static final SessionOptions OPTIONS = SessionOptions.defaults()
            .withDevice(Fabric.TCP_ONE_PROCESS.device())
            .withAddress("127.0.0.1", 0);
    private static final InetAddress HERE = InetAddress.ofLiteral("127.0.0.1");
    /// No host has it (RFC 5737).
    private static final InetAddress NOWHERE = InetAddress.ofLiteral("192.0.2.1");

    private static Frame answer(SessionOptions options, InetAddress address, int... ports) throws IOException {
        try (ServerSession server = ServerSession.listen(options);
                FramedSocket client = new FramedSocket(server.port())) {
            client.send(FrameType.HELLO, FramedSocket.description(address, ports));
            return client.next();
        }
    }

    @Test
    void anAddressThatIsNotTheClientsIsRefused() throws IOException {
        Frame answer = answer(OPTIONS, NOWHERE, 20_000, 20_000);

        assertThat(answer.is(FrameType.REFUSE)).isTrue();
        assertThat(answer.text()).contains("queue pairs at 192.0.2.1", "127.0.0.1", "withForeignGids");
    }

    @Test
    void theOptionAllowsIt() throws IOException {
        Frame answer = answer(OPTIONS.withForeignGids(true), NOWHERE, 20_000, 20_000);

        assertThat(answer.is(FrameType.WELCOME)).isTrue();
    }

    @Test
    void queuePairsAtTwoPlacesAreRefusedAndNothingConnectsThere() throws IOException {
        try (Trap first = new Trap();
                Trap second = new Trap()) {
            Frame answer = answer(OPTIONS, HERE, first.port(), second.port());

            assertThat(answer.is(FrameType.REFUSE)).isTrue();
            assertThat(answer.text()).contains("two places");
            assertThat(first.hasCaught() || second.hasCaught()).isFalse();
        }
    }

    @Test
    void aDeviceThatSpeaksRoceIsToldToUseAnother() throws IOException {
        Frame answer = answer(OPTIONS, HERE, 0, 0);

        assertThat(answer.is(FrameType.REFUSE)).isTrue();
        assertThat(answer.text()).contains("use devices of one transport on both sides (transport=roce");
    }

    @Test
    void aPortOfTheSystemIsRefused() throws IOException {
        Frame answer = answer(OPTIONS, HERE, 22, 22);

        assertThat(answer.is(FrameType.REFUSE)).isTrue();
        assertThat(answer.text()).contains("port 22");
    }

    /// The ports of the loopback address are closed to other hosts, and a server must not open them.
    @Test
    void anotherHostDoesNotReachTheLoopbackAddressThroughAServer() throws Exception {
        if (!Fabric.TCP_TWO_NAMESPACES.isPresent()) {
            throw LeftOut.because(
                    PeerLocationTest.class, Fabric.TCP_TWO_NAMESPACES + " is absent: " + FarNamespace.absence());
        }
        FarNamespace far = FarNamespace.orLeaveOut(PeerLocationTest.class);
        try (Trap trap = new Trap();
                ServerSession server = ServerSession.listen(OPTIONS.withAddress(far.near(), 0))) {
            byte[] hello = FramedSocket.opening(
                    FrameType.HELLO, FramedSocket.description(HERE, trap.port(), trap.port(), trap.port()));
            String answer = fromThere(far, server.port(), hello);

            assertThat(trap.hasCaught()).isFalse();
            assertThat(answer).contains("queue pairs at 127.0.0.1", far.far());
        }
    }

    /// The answer of a server on this host to a client on the other one.
    private static String fromThere(FarNamespace far, int port, byte[] sent) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(far.launcher());
        command.addAll(List.of("bash", "-c", "exec 3<>/dev/tcp/" + far.near() + "/" + port + "; cat >&3; cat <&3"));
        Process client = new ProcessBuilder(command).redirectErrorStream(true).start();
        try {
            client.getOutputStream().write(sent);
            client.getOutputStream().close();
            String answer = new String(client.getInputStream().readAllBytes(), UTF_8);
            client.waitFor();
            return answer;
        } finally {
            client.destroyForcibly();
        }
    }

    @Test
    void aServerDoesNotSendItsClientElsewhere() throws IOException {
        try (ServerSocket listener = new ServerSocket(0, 1, HERE);
                Trap trap = new Trap()) {
            CompletableFuture<Frame> server = CompletableFuture.supplyAsync(
                    () -> welcome(listener, trap.port()),
                    task -> Thread.ofVirtual().start(task));

            assertThatThrownBy(() -> ClientSession.connect(OPTIONS.withPort(listener.getLocalPort())))
                    .isInstanceOf(RdmaException.class)
                    .hasMessageContaining("queue pairs at 192.0.2.1");
            assertThat(server.join().is(FrameType.REFUSE)).isTrue();
        }
    }

    private static Frame welcome(ServerSocket listener, int port) {
        try (FramedSocket client = new FramedSocket(listener.accept())) {
            client.answerGreeting();
            client.next();
            ByteBuffer elsewhere = FramedSocket.description(NOWHERE, port, port);
            client.send(FrameType.WELCOME, elsewhere);
            return client.next();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
