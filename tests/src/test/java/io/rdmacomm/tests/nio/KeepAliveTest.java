package io.rdmacomm.tests.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.rdmacomm.nio.RdmaSelectorProvider;
import io.rdmacomm.tests.fixture.LeakCheck;
import java.io.IOException;
import java.net.SocketException;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.concurrent.TimeUnit;
import jdk.net.ExtendedSocketOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Idle connections whose program has set SO_KEEPALIVE.
@ExtendWith(LeakCheck.class)
@Timeout(60)
class KeepAliveTest {
    private static final long SECONDS = 1_000_000_000L;
    /// The first WRITE of a connection is a grant. The next one of an idle connection is not confirmed for long.
    private static final String SILENT = "fault:soft0?delay=write:2+:40s";
    private static final String DEAD = "fault:soft0?fail=write:2:RETRY_EXCEEDED";

    /// Gives up after 3 seconds.
    private static void impatient(SocketChannel channel) throws IOException {
        channel.setOption(ExtendedSocketOptions.TCP_KEEPIDLE, 1);
        channel.setOption(ExtendedSocketOptions.TCP_KEEPINTERVAL, 1);
        channel.setOption(ExtendedSocketOptions.TCP_KEEPCOUNT, 2);
        channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
    }

    private record Idle(RdmaSelectorProvider near, RdmaSelectorProvider far, SocketChannel client, SocketChannel server)
            implements AutoCloseable {
        static Idle connect(String device) throws IOException {
            RdmaSelectorProvider near = RdmaSelectorProvider.of(device, "*");
            RdmaSelectorProvider far = RdmaSelectorProvider.of("soft0", "*");
            try (ServerSocketChannel listening = Sockets.listen(far)) {
                SocketChannel client = near.openSocketChannel();
                client.connect(listening.getLocalAddress());
                return new Idle(near, far, client, listening.accept());
            }
        }

        @Override
        public void close() throws IOException {
            client.setOption(StandardSocketOptions.SO_LINGER, 0);
            client.close();
            server.close();
            near.close();
            far.close();
        }
    }

    @Test
    void aPeerThatAnswersStays() throws Exception {
        try (Idle idle = Idle.connect("soft0")) {
            impatient(idle.client());
            impatient(idle.server());
            TimeUnit.SECONDS.sleep(6);
            assertThat(idle.client().write(ByteBuffer.allocate(3))).isEqualTo(3);
            assertThat(idle.server().read(ByteBuffer.allocate(10))).isEqualTo(3);
            assertThat(idle.server().write(ByteBuffer.allocate(4))).isEqualTo(4);
            assertThat(idle.client().read(ByteBuffer.allocate(10))).isEqualTo(4);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {SILENT, DEAD})
    void aReaderHearsThatThePeerDoesNotAnswer(String device) throws Exception {
        try (Idle idle = Idle.connect(device)) {
            impatient(idle.client());
            long begin = System.nanoTime();
            assertThatExceptionOfType(IOException.class)
                    .isThrownBy(() -> idle.client().read(ByteBuffer.allocate(1)))
                    .withMessage("Connection timed out");
            assertThat(System.nanoTime() - begin).isBetween(SECONDS / 2, 20 * SECONDS);
            assertThatExceptionOfType(IOException.class)
                    .isThrownBy(() -> idle.client().write(ByteBuffer.allocate(1)))
                    .withMessage("Broken pipe");
        }
    }

    @Test
    void aSelectorHearsIt() throws Exception {
        try (Idle idle = Idle.connect(SILENT);
                Selector selector = idle.near().openSelector()) {
            idle.client().configureBlocking(false);
            SelectionKey key = idle.client().register(selector, SelectionKey.OP_READ);
            impatient(idle.client());
            assertThat(selector.select(30_000)).isEqualTo(1);
            assertThat(key.isReadable()).isTrue();
            assertThatExceptionOfType(IOException.class)
                    .isThrownBy(() -> idle.client().read(ByteBuffer.allocate(1)))
                    .withMessage("Connection timed out");
        }
    }

    @Test
    void withoutItNobodyIsAsked() throws Exception {
        try (Idle idle = Idle.connect(DEAD)) {
            impatient(idle.client());
            idle.client().setOption(StandardSocketOptions.SO_KEEPALIVE, false);
            TimeUnit.SECONDS.sleep(4);
            assertThat(idle.server().write(ByteBuffer.allocate(4))).isEqualTo(4);
            assertThat(idle.client().read(ByteBuffer.allocate(10))).isEqualTo(4);
        }
    }

    @ParameterizedTest
    @EnumSource
    void theOptionsAreThoseOfTcp(Sockets sockets) throws Exception {
        var provider = sockets.provider();
        try (ServerSocketChannel listening = provider.openServerSocketChannel();
                SocketChannel client = provider.openSocketChannel()) {
            assertThat(client.getOption(ExtendedSocketOptions.TCP_KEEPIDLE)).isPositive();
            listening.setOption(ExtendedSocketOptions.TCP_KEEPIDLE, 50);
            listening.setOption(ExtendedSocketOptions.TCP_KEEPINTERVAL, 10);
            listening.setOption(ExtendedSocketOptions.TCP_KEEPCOUNT, 5);
            client.setOption(ExtendedSocketOptions.TCP_KEEPIDLE, 60);
            listening.bind(Sockets.anyPort());
            client.connect(listening.getLocalAddress());
            try (SocketChannel accepted = listening.accept()) {
                assertThat(accepted.getOption(ExtendedSocketOptions.TCP_KEEPIDLE))
                        .isEqualTo(50);
                assertThat(accepted.getOption(ExtendedSocketOptions.TCP_KEEPINTERVAL))
                        .isEqualTo(10);
                assertThat(accepted.getOption(ExtendedSocketOptions.TCP_KEEPCOUNT))
                        .isEqualTo(5);
                assertThat(accepted.getOption(StandardSocketOptions.SO_KEEPALIVE))
                        .isFalse();
                assertThat(client.getOption(ExtendedSocketOptions.TCP_KEEPIDLE)).isEqualTo(60);
            }
        } finally {
            Sockets.close(provider);
        }
    }

    @Test
    void valuesThatTheSystemDoesNotTakeAreRejected() throws Exception {
        try (RdmaSelectorProvider provider = RdmaSelectorProvider.of("soft0", "*");
                SocketChannel channel = provider.openSocketChannel()) {
            for (SocketOption<Integer> option : List.of(
                    ExtendedSocketOptions.TCP_KEEPIDLE,
                    ExtendedSocketOptions.TCP_KEEPINTERVAL,
                    ExtendedSocketOptions.TCP_KEEPCOUNT)) {
                for (int wrong : new int[] {-1, 0, 32_768}) {
                    // As the channels of the JDK do.
                    assertThatExceptionOfType(SocketException.class)
                            .isThrownBy(() -> channel.setOption(option, wrong))
                            .withMessage("Invalid argument");
                }
            }
        }
    }
}
