package io.rdmacomm.tests.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIOException;

import io.rdmacomm.nio.RdmaSelectorProvider;
import io.rdmacomm.tests.fixture.LeakCheck;
import io.rdmacomm.tests.fixture.Signals;
import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/// The other end of a connection is a process that is killed, stopped, or short of descriptors.
@ExtendWith(LeakCheck.class)
@Timeout(value = 1, unit = TimeUnit.MINUTES)
class PeerProcessTest {
    private static final int SHORT_MILLIS = 200;

    private final RdmaSelectorProvider provider = RdmaSelectorProvider.of("soft0", "*");

    @AfterEach
    void close() {
        provider.close();
    }

    private static PeerProcess peer(String role) throws IOException {
        return PeerProcess.start(List.of(), role);
    }

    private SocketChannel connect(PeerProcess peer) throws IOException {
        SocketChannel channel = provider.openSocketChannel();
        channel.connect(peer.address());
        return channel;
    }

    @Test
    void aReaderSeesThatThePeerWasKilled() throws Exception {
        try (PeerProcess peer = peer("listen");
                SocketChannel channel = connect(peer)) {
            peer.kill();
            assertThatIOException().isThrownBy(() -> channel.read(ByteBuffer.allocate(1)));
            assertThatIOException().isThrownBy(() -> channel.write(ByteBuffer.allocate(1)));
            assertThatExceptionOfType(ConnectException.class).isThrownBy(() -> connect(peer));
        }
    }

    @Test
    void aKillInATransferLosesNothingThatHasArrived() throws Exception {
        try (PeerProcess peer = peer("write");
                SocketChannel channel = connect(peer)) {
            ByteBuffer bytes = ByteBuffer.allocate(777);
            for (int i = 0; i < 1000; i++) {
                assertThat(channel.read(bytes.clear())).isPositive();
            }
            peer.kill();
            assertThatIOException().isThrownBy(() -> {
                while (channel.read(bytes.clear()) > 0) {
                    assertThat(bytes.position()).isPositive();
                }
                throw new AssertionError("the end of the stream, which nobody has sent");
            });
        }
    }

    @Test
    void aWriterWithoutRoomSeesThatThePeerWasKilled() throws Exception {
        try (PeerProcess peer = peer("accept");
                SocketChannel channel = connect(peer);
                Selector selector = provider.openSelector()) {
            channel.configureBlocking(false);
            ByteBuffer bytes = ByteBuffer.allocate(1000);
            while (channel.write(bytes.clear()) > 0) {
                assertThat(bytes.position()).isPositive();
            }
            channel.register(selector, SelectionKey.OP_WRITE);
            peer.kill();
            assertThatIOException().isThrownBy(() -> {
                while (selector.select() == 1) {
                    // Room that the peer has given before its end.
                    channel.write(bytes.clear());
                    selector.selectedKeys().clear();
                }
            });
        }
    }

    @Test
    @SuppressWarnings("try") // the channel is closed early, while the peer is stopped
    void aStoppedPeerIsATimeOutAndHoldsNobodyUp() throws Exception {
        try (PeerProcess peer = peer("accept");
                SocketChannel channel = connect(peer)) {
            Signals.freeze(peer.process());
            channel.socket().setSoTimeout(SHORT_MILLIS);
            assertThatExceptionOfType(SocketTimeoutException.class)
                    .isThrownBy(() -> channel.socket().getInputStream().read());
            try (SocketChannel second = provider.openSocketChannel()) {
                assertThatExceptionOfType(SocketTimeoutException.class)
                        .isThrownBy(() -> second.socket().connect(peer.address(), SHORT_MILLIS));
            }
            channel.write(ByteBuffer.allocate(1));
            channel.setOption(StandardSocketOptions.SO_LINGER, 1);
            channel.close();
            Signals.thaw(peer.process());
        }
    }

    @Test
    void withoutARecordingTheFlightRecorderIsNotSetUp(@TempDir Path folder) throws Exception {
        Path log = folder.resolve("log");
        List<String> environment = List.of("env", "JAVA_TOOL_OPTIONS=-Xlog:class+load:file=" + log + ":none");
        try (PeerProcess peer = PeerProcess.start(environment, "write");
                SocketChannel channel = connect(peer)) {
            assertThat(channel.read(ByteBuffer.allocate(1))).isOne();
        }
        assertThat(Files.readAllLines(log))
                .anyMatch(line -> line.startsWith("io.rdmacomm.nio.rsocket.SocketRecording "))
                .noneMatch(line -> line.startsWith("jdk.jfr.Event "));
    }

    @Test
    void withoutDescriptorsAConnectionFailsAndOthersGoOn() throws Exception {
        List<String> fewDescriptors = List.of("sh", "-c", "ulimit -n 100 && exec \"$@\"", "sh");
        try (PeerProcess peer = PeerProcess.start(fewDescriptors, "exhaust")) {
            assertThat(peer.lines())
                    .satisfiesExactly(
                            first -> assertThat(first).containsPattern("[1-9]\\d* connections, then .*Exception: "),
                            second -> assertThat(second).isEqualTo("again"),
                            last -> assertThat(last).isEqualTo("exit code 0"));
        }
    }
}
