package io.rdmacomm.tests.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.cli.interop.StringCopyClient;
import io.rdmacomm.cli.interop.StringCopyServer;
import io.rdmacomm.tests.fixture.Deadline;
import io.rdmacomm.tests.fixture.LeakCheck;
import io.rdmacomm.verbs.cm.ConnectionRejectedException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// The string copy: both sides, and the server against clients that break the protocol.
@ExtendWith(LeakCheck.class)
class StringCopyTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    private static final InetSocketAddress ANY_PORT = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    private static ConnectionPair pair(Duration timeout) {
        return new ConnectionPair(manager -> StringCopyServer.listen(manager, ANY_PORT, timeout));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {"x | \"x\"", "textstring | \"textstring\"", "grüße | \"grüße\"", "a\u001bb\u009b\u202e | \"a?b??\""
            })
    void aStringComesBackUnchanged(String text, String shown) throws Exception {
        try (ConnectionPair pair = pair(TIMEOUT)) {
            byte[] bytes = text.getBytes(StandardCharsets.UTF_8);

            StringCopyClient.Result result =
                    StringCopyClient.copy(pair.clients(), "127.0.0.1", pair.port(), bytes, TIMEOUT);

            assertThat(result.bytes()).isEqualTo(bytes.length);
            Deadline.await("the server's line", () -> !pair.lines().isEmpty());
            assertThat(pair.lines())
                    .singleElement()
                    .asString()
                    .endsWith(": " + bytes.length + " bytes copied: " + shown);
            assertThat(pair.failures()).isEmpty();
        }
    }

    @Test
    void aLongStringIsCopiedAndItsBeginningShown() throws Exception {
        try (ConnectionPair pair = pair(TIMEOUT)) {
            byte[] bytes = "0123456789".repeat(100_000).getBytes(StandardCharsets.UTF_8);

            StringCopyClient.copy(pair.clients(), "127.0.0.1", pair.port(), bytes, TIMEOUT);

            Deadline.await("the server's line", () -> !pair.lines().isEmpty());
            assertThat(pair.lines().getFirst()).endsWith("\"" + "0123456789".repeat(6) + "\" ...");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, (16 << 20) + 1, Integer.MIN_VALUE})
    void anInvalidLengthEndsOnlyThatClient(int length) throws Exception {
        try (ConnectionPair pair = pair(TIMEOUT)) {
            pair.assertRejected(
                    hostile -> hostile.send(record(length)),
                    "the client asks for " + Integer.toUnsignedString(length) + " bytes");
            assertStillServes(pair);
        }
    }

    @Test
    void aMessageOfTheWrongLengthEndsOnlyThatClient() throws Exception {
        try (ConnectionPair pair = pair(TIMEOUT)) {
            pair.assertRejected(hostile -> hostile.send(ByteBuffer.allocate(12).position(12)), "a message of 12 bytes");
            assertStillServes(pair);
        }
    }

    @Test
    void aSecondMessageEndsOnlyThatClient() throws Exception {
        try (ConnectionPair pair = pair(TIMEOUT)) {
            pair.assertRejected(
                    hostile -> {
                        hostile.send(record(10));
                        hostile.send(record(10));
                    },
                    "a message instead of disconnecting");
            assertStillServes(pair);
        }
    }

    @Test
    void aClientThatDisconnectsImmediatelyIsReported() throws Exception {
        try (ConnectionPair pair = pair(TIMEOUT)) {
            new RawClient(pair.clients(), pair.port()).close();

            pair.assertOneFailure("ended the connection");
            assertStillServes(pair);
        }
    }

    @Test
    void aSilentClientTimesOut() throws Exception {
        try (ConnectionPair pair = pair(Duration.ofMillis(900));
                RawClient silent = new RawClient(pair.clients(), pair.port())) {
            silent.awaitEnd();

            pair.assertOneFailure("timed out after 900 ms");
        }
    }

    @Test
    void aPortWithoutListenerIsReported() throws Exception {
        try (ConnectionPair pair = pair(TIMEOUT)) {
            assertThatThrownBy(() -> StringCopyClient.copy(pair.clients(), "127.0.0.1", 1, new byte[8], TIMEOUT))
                    .isInstanceOf(ConnectionRejectedException.class)
                    .hasMessageContaining("no program listens");
        }
    }

    private static void assertStillServes(ConnectionPair pair) throws Exception {
        byte[] text = {'o', 'k'};
        assertThat(StringCopyClient.copy(pair.clients(), "127.0.0.1", pair.port(), text, TIMEOUT)
                        .bytes())
                .isEqualTo(2);
    }

    private static ByteBuffer record(int length) {
        return ByteBuffer.allocate(16)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(4096)
                .putInt(length)
                .putInt(1);
    }
}
