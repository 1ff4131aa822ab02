package io.rdmacomm.tests.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.rdmacomm.nio.RdmaSelectorProvider;
import io.rdmacomm.tests.fixture.LeakCheck;
import io.rdmacomm.tests.nio.Sockets.Pair;
import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/// The limit for the memory of all sockets, `io.rdmacomm.nio.memory`.
@ExtendWith(LeakCheck.class)
@Timeout(value = 1, unit = TimeUnit.MINUTES)
class MemoryLimitTest {
    private static final String PROPERTY = "io.rdmacomm.nio.memory";

    @AfterEach
    void clear() {
        System.clearProperty(PROPERTY);
    }

    private static void exchange(Pair pair) throws IOException {
        pair.client().write(ByteBuffer.allocate(1));
        assertThat(pair.server().read(ByteBuffer.allocate(1))).isEqualTo(1);
    }

    @Test
    void oneConnectionTooManyIsRefusedUntilAnotherOneIsClosed() throws Exception {
        // Both ends of one connection, not of two.
        System.setProperty(PROPERTY, "" + 3 * 270_000);
        try (RdmaSelectorProvider provider = RdmaSelectorProvider.of("soft0", "*")) {
            try (Pair pair = Pair.connect(provider)) {
                exchange(pair);
                // This end has memory, and the other end has none, or the other way round.
                assertThatExceptionOfType(ConnectException.class)
                        .isThrownBy(() -> Pair.connect(provider))
                        .withMessageMatching(".*(" + PROPERTY + "|Connection refused).*");
                exchange(pair);
            }
            Pair again = null;
            while (again == null) {
                // The memory of closed connections comes back in the background.
                again = tryConnect(provider);
            }
            exchange(again);
            again.close();
        }
    }

    private static Pair tryConnect(RdmaSelectorProvider provider) throws IOException {
        try {
            return Pair.connect(provider);
        } catch (ConnectException e) {
            return null;
        }
    }

    @Test
    void aConnectionWithoutMemorySaysWhatToDo() throws Exception {
        System.setProperty(PROPERTY, "1000");
        try (RdmaSelectorProvider provider = RdmaSelectorProvider.of("soft0", "*");
                ServerSocketChannel listening = Sockets.listen(provider);
                SocketChannel channel = provider.openSocketChannel()) {
            assertThatExceptionOfType(ConnectException.class)
                    .isThrownBy(() -> channel.connect(listening.getLocalAddress()))
                    .withMessageContainingAll("limit of 1000", "SO_RCVBUF", PROPERTY);
        }
    }

    @Test
    void aWrongLimitIsNamed() throws Exception {
        System.setProperty(PROPERTY, "much");
        try (RdmaSelectorProvider provider = RdmaSelectorProvider.of("soft0", "*")) {
            assertThatExceptionOfType(SocketException.class)
                    .isThrownBy(() -> Sockets.listen(provider))
                    .withMessageContainingAll("'much'", PROPERTY);
        }
    }
}
