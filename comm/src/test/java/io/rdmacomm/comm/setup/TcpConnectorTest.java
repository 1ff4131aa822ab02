package io.rdmacomm.comm.setup;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.anyOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.comm.setup.SetupException.Reason;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.assertj.core.api.Condition;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// The set-up connection against silent, slow and hostile peers.
final class TcpConnectorTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final Duration SHORT = Duration.ofMillis(200);

    private ServerSocket listener;
    private TcpConnector connector;
    private Socket peer;

    @BeforeEach
    void connect() throws IOException {
        listener = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
        connector = TcpConnector.connect("127.0.0.1", listener.getLocalPort(), TIMEOUT);
        peer = listener.accept();
    }

    @AfterEach
    void disconnect() throws IOException {
        connector.close();
        peer.close();
        listener.close();
    }

    private void peerSends(byte[] bytes) throws IOException {
        peer.getOutputStream().write(bytes);
    }

    private static byte[] frame(int type, int length, byte[] payload) {
        ByteBuffer frame = ByteBuffer.allocate(12 + payload.length);
        frame.put("RDMC".getBytes(UTF_8)).putShort((short) 0).putShort((short) type);
        return frame.putInt(length).put(payload).array();
    }

    private static Condition<Throwable> reason(Reason reason) {
        return new Condition<>(
                thrown -> thrown instanceof SetupException failure && failure.reason() == reason, "%s", reason);
    }

    @Test
    void framesAreInNetworkOrder() throws IOException {
        connector.send(FrameType.HELLO, ByteBuffer.wrap(new byte[] {7, 8, 9}));

        byte[] seen = peer.getInputStream().readNBytes(15);

        assertThat(seen).containsExactly('R', 'D', 'M', 'C', 0, 0, 0, 1, 0, 0, 0, 3, 7, 8, 9);
    }

    @Test
    void aFrameMayArriveByteByByte() throws IOException {
        byte[] frame = frame(3, 2, new byte[] {5, 6});
        for (byte b : frame) {
            peerSends(new byte[] {b});
        }

        assertThat(connector.receive(FrameType.READY, TIMEOUT)).isEqualTo(ByteBuffer.wrap(new byte[] {5, 6}));
    }

    @Test
    void garbageIsRejectedAtItsFirstByte() throws IOException {
        peerSends("H".getBytes(UTF_8));

        assertThatThrownBy(() -> connector.receive(FrameType.WELCOME, TIMEOUT))
                .is(reason(Reason.PROTOCOL_VIOLATED))
                .hasMessageContaining("another protocol");
    }

    @Test
    void anAbsurdLengthIsRejectedBeforeAnythingIsAllocated() throws IOException {
        peerSends(frame(2, Integer.MAX_VALUE, new byte[0]));

        assertThatThrownBy(() -> connector.receive(FrameType.WELCOME, TIMEOUT))
                .is(reason(Reason.PROTOCOL_VIOLATED))
                .hasMessageContaining("2147483647 bytes");
    }

    @Test
    void aNegativeLengthIsRejected() throws IOException {
        peerSends(frame(2, -1, new byte[0]));

        assertThatThrownBy(() -> connector.receive(FrameType.WELCOME, TIMEOUT))
                .is(reason(Reason.PROTOCOL_VIOLATED))
                .hasMessageContaining("4294967295 bytes");
    }

    @Test
    void aFieldThatIsNotUsedYetIsIgnored() throws IOException {
        byte[] frame = frame(3, 1, new byte[] {5});
        frame[4] = 0x47;
        frame[5] = 0x11;
        peerSends(frame);

        assertThat(connector.receive(FrameType.READY, TIMEOUT)).isEqualTo(ByteBuffer.wrap(new byte[] {5}));
    }

    @Test
    void aRefusalBecauseOfTheVersionIsOne() throws IOException {
        byte[] reason = "rank 2 is too old".getBytes(UTF_8);
        peerSends(frame(13, reason.length, reason));

        assertThatThrownBy(() -> connector.receive(FrameType.WELCOME, TIMEOUT))
                .is(reason(Reason.OTHER_VERSION))
                .hasMessageContaining("rank 2 is too old");
    }

    @Test
    void anUnexpectedFrameIsRejected() throws IOException {
        peerSends(frame(3, 0, new byte[0]));

        assertThatThrownBy(() -> connector.receive(FrameType.WELCOME, TIMEOUT))
                .is(reason(Reason.PROTOCOL_VIOLATED))
                .hasMessageContaining("READY where WELCOME");
    }

    @Test
    void anUnknownFrameIsRejected() throws IOException {
        peerSends(frame(77, 0, new byte[0]));

        assertThatThrownBy(() -> connector.receive(FrameType.WELCOME, TIMEOUT))
                .is(reason(Reason.PROTOCOL_VIOLATED))
                .hasMessageContaining("unknown frame");
    }

    @Test
    void aRefusalCarriesItsReasonMadePrintable() throws IOException {
        byte[] reason = "no room\u001b[2J\n\u009b\u202e".getBytes(UTF_8);
        peerSends(frame(4, reason.length, reason));

        assertThatThrownBy(() -> connector.receive(FrameType.WELCOME, TIMEOUT))
                .is(reason(Reason.REFUSED))
                .hasMessageContaining("no room?[2J???");
    }

    @Test
    void aSilentPeerRunsIntoTheDeadline() {
        assertThatThrownBy(() -> connector.receive(FrameType.WELCOME, SHORT))
                .is(reason(Reason.DEADLINE_PASSED))
                .hasMessageContaining("was silent")
                .hasMessageContaining("200 ms");
    }

    @Test
    void aSlowPeerDoesNotGetANewDeadlineWithEveryByte() throws IOException {
        byte[] frame = frame(3, 1000, new byte[1000]);
        peer.setSoTimeout(20);
        CompletableFuture<Throwable> failure = new CompletableFuture<>();
        Thread.ofPlatform().daemon().start(() -> {
            try {
                connector.receive(FrameType.READY, SHORT);
                failure.complete(null);
            } catch (RuntimeException e) {
                failure.complete(e);
            }
        });
        // With a new deadline for each byte it would take all 20 s of them, and succeed.
        for (int i = 0; i < frame.length && !failure.isDone(); i++) {
            peerSends(new byte[] {frame[i]});
            assertThatThrownBy(() -> peer.getInputStream().read()).isInstanceOf(SocketTimeoutException.class);
        }

        assertThat(failure.join()).is(reason(Reason.DEADLINE_PASSED));
    }

    @Test
    void aPeerThatClosesEndsTheWait() throws IOException {
        peerSends(frame(3, 100, new byte[10]));
        peer.close();

        assertThatThrownBy(() -> connector.receive(FrameType.READY, TIMEOUT))
                .is(reason(Reason.PEER_CLOSED))
                .hasMessageContaining("closed the connection");
    }

    @Test
    void aHalfClosedPeerEndsTheWait() throws IOException {
        peer.shutdownOutput();

        assertThatThrownBy(() -> connector.receive(FrameType.READY, TIMEOUT)).is(reason(Reason.PEER_CLOSED));
    }

    @Test
    void closingWakesTheReceiver() throws Exception {
        CompletableFuture<Throwable> failure = new CompletableFuture<>();
        Thread waiter = Thread.ofVirtual().start(() -> {
            try {
                connector.receive(FrameType.READY, TIMEOUT);
            } catch (RuntimeException e) {
                failure.complete(e);
            }
        });
        while (waiter.getState() != Thread.State.WAITING && waiter.getState() != Thread.State.TIMED_WAITING) {
            assertThat(waiter.isAlive()).isTrue();
            Thread.onSpinWait();
        }

        connector.close();

        assertThat(failure.get()).is(reason(Reason.CLOSED));
    }

    @Test
    void aPayloadThatIsTooLongIsNotSent() {
        assertThatThrownBy(() -> connector.send(FrameType.HELLO, ByteBuffer.allocate(TcpConnector.MAX_PAYLOAD + 1)))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void aRefusedPortSaysWhatToDo() throws IOException {
        int port = listener.getLocalPort();
        listener.close();

        assertThatThrownBy(() -> TcpConnector.connect("127.0.0.1", port, TIMEOUT))
                .is(reason(Reason.REFUSED))
                .hasMessageContaining("no program listens on 127.0.0.1:" + port)
                .hasMessageContaining("start the server");
    }

    @Test
    void anUnknownHostIsNamed() {
        assertThatThrownBy(() -> TcpConnector.connect("no-such-host.invalid", 2020, TIMEOUT))
                .is(anyOf(reason(Reason.HOST_UNKNOWN), reason(Reason.DEADLINE_PASSED)))
                .hasMessageContaining("no-such-host.invalid");
    }

    @Test
    void namesAreResolvedAndAllTheirAddressesTried() throws IOException {
        try (TcpConnector byName = TcpConnector.connect("localhost", listener.getLocalPort(), TIMEOUT);
                Socket accepted = listener.accept()) {
            byName.send(FrameType.READY, ByteBuffer.allocate(0));
            InputStream in = accepted.getInputStream();
            assertThat(in.readNBytes(12)).startsWith('R', 'D', 'M', 'C');
        }
    }
}
