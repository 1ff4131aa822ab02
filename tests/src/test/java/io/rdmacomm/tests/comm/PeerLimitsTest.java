package io.rdmacomm.tests.comm;

import static io.rdmacomm.tests.comm.ConnectedPair.TIMEOUT;
import static io.rdmacomm.tests.comm.ConnectedPair.eventually;
import static io.rdmacomm.tests.fixture.PeerFailure.peer;
import static io.rdmacomm.tests.fixture.SetupFailure.because;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.PeerFailedException;
import io.rdmacomm.comm.PeerLimits;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.SetupFailedException;
import io.rdmacomm.comm.SetupFailedException.Reason;
import io.rdmacomm.comm.setup.FrameType;
import io.rdmacomm.tests.comm.FramedSocket.Frame;
import io.rdmacomm.tests.fixture.LeakCheck;
import io.rdmacomm.verbs.AccessFlag;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/// The memory that peers can make a session keep is limited.
@ExtendWith(LeakCheck.class)
final class PeerLimitsTest {
    private static final SessionOptions OPTIONS = SessionOptions.defaults().withAddress("127.0.0.1", 0);
    private static final PeerLimits LIMITS = PeerLimits.defaults();

    private static ClientSession connect(ServerSession server) {
        return ClientSession.connect(OPTIONS.withPort(server.port()));
    }

    @Test
    void furtherClientsAreRefusedUntilOneIsClosed() {
        refusesTheThird(LIMITS.withEndPoints(2), "2 endpoints already", "PeerLimits.withEndPoints ");
    }

    @Test
    void furtherClientsOfAnAddressAreRefusedUntilOneIsClosed() {
        refusesTheThird(
                LIMITS.withEndPointsPerAddress(2),
                "2 endpoints with clients of 127.0.0.1 already",
                "PeerLimits.withEndPointsPerAddress ");
    }

    @SuppressWarnings("try") // closes the first client early
    private static void refusesTheThird(PeerLimits limits, String what, String option) {
        try (ServerSession server = ServerSession.listen(OPTIONS.withLimits(limits));
                ClientSession first = connect(server)) {
            EndPoint firstEnd = server.accept(TIMEOUT);
            try (ClientSession _ = connect(server)) {
                assertThatThrownBy(() -> connect(server))
                        .satisfies(because(Reason.REFUSED))
                        .hasMessageContaining(what)
                        .hasMessageContaining(option);
                first.close();
                firstEnd.close();
                try (ClientSession third = connect(server)) {
                    assertThat(third.endPoint().failure()).isNull();
                }
            }
        }
    }

    /// A set-up that fails gives its place back.
    @Test
    void clientsThatGiveUpTakeNoPlaceForever() throws IOException {
        try (ServerSession server = ServerSession.listen(OPTIONS.withLimits(LIMITS.withEndPoints(1)))) {
            for (int i = 0; i < 3; i++) {
                try (FramedSocket client = new FramedSocket(server.port())) {
                    client.send(FrameType.HELLO, hello(2));
                    client.next();
                }
                eventually(() -> server.endPoints().isEmpty());
            }
            eventually(() -> canConnect(server));
        }
    }

    private static boolean canConnect(ServerSession server) {
        try (ClientSession _ = connect(server)) {
            return true;
        } catch (SetupFailedException e) {
            assertThat(e).satisfies(because(Reason.REFUSED));
            return false;
        }
    }

    @Test
    void aClientThatWantsManyChannelsIsRefused() throws IOException {
        try (ServerSession server = ServerSession.listen(OPTIONS);
                FramedSocket client = new FramedSocket(server.port())) {
            client.send(FrameType.HELLO, hello(65));
            Frame answer = client.next();

            assertThat(answer.is(FrameType.REFUSE)).isTrue();
            assertThat(answer.text()).contains("64 data channels, 16 are granted", "withMaxChannels");
        }
    }

    private static ByteBuffer hello(int channels) {
        int[] ports = new int[channels];
        Arrays.fill(ports, 20_000);
        return FramedSocket.description(InetAddress.getLoopbackAddress(), ports);
    }

    @Test
    void aPeerThatAnnouncesWithoutEndIsGivenUp() {
        SessionOptions few = OPTIONS.withLimits(LIMITS.withBuffers(3));
        try (ConnectedPair pair = new ConnectedPair(few, OPTIONS)) {
            for (int i = 0; i < 3; i++) {
                pair.clientEnd.announce(pair.client.allocate("buffer " + i, 64), AccessFlag.allRemote());
            }
            assertThat(pair.serverEnd.peerBuffer("buffer 2", TIMEOUT).length()).isEqualTo(64);
            pair.clientEnd.announce(pair.client.allocate("buffer 3", 64), AccessFlag.allRemote());

            eventually(() -> pair.serverEnd.failure() != null);
            assertThat(pair.serverEnd.failure())
                    .satisfies(peer(PeerFailedException.Reason.PROTOCOL_VIOLATED))
                    .hasMessageContaining("more than 3 buffers")
                    .hasMessageContaining("PeerLimits.withBuffers");
            assertThat(pair.serverEnd.peerBuffers()).hasSize(3);
            long told = System.nanoTime();
            eventually(() -> pair.clientEnd.failure() != null);
            assertThat(Duration.ofNanos(System.nanoTime() - told)).isLessThan(Duration.ofSeconds(5));
            assertThat(pair.clientEnd.failure())
                    .isInstanceOfSatisfying(
                            PeerFailedException.class,
                            e -> assertThat(e.code()).isEqualTo(PeerFailedException.PROTOCOL_VIOLATION))
                    .hasMessageContaining("more than 3 buffers");
            pair.serverEnd.close();
        }
    }
}
