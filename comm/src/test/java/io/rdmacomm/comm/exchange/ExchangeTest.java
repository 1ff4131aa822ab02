package io.rdmacomm.comm.exchange;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.comm.ClosedException;
import io.rdmacomm.comm.PeerFailedException;
import io.rdmacomm.comm.Secret;
import io.rdmacomm.comm.SetupFailedException;
import io.rdmacomm.comm.SetupFailedException.Reason;
import io.rdmacomm.verbs.DeadlineException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// Conversations of two programs, with right peers and others.
final class ExchangeTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    private static final Duration SHORT = Duration.ofMillis(50);
    private static final ExchangeOptions OPTIONS =
            ExchangeOptions.of("org.example.echo").withStep(TIMEOUT);
    private static final Secret SECRET = Secret.of("the secret of all".getBytes(UTF_8));

    private final AtomicInteger served = new AtomicInteger();
    private ExchangeServer server;

    @AfterEach
    void close() {
        if (server != null) {
            server.close();
        }
    }

    private void listen(ExchangeOptions options, ExchangeServer.Handler handler) {
        server = ExchangeServer.listen("127.0.0.1", 0, options, exchange -> {
            var _ = served.incrementAndGet();
            handler.converse(exchange);
        });
    }

    private void echo(ExchangeOptions options) {
        listen(options, exchange -> {
            while (true) {
                exchange.send(exchange.receive(TIMEOUT));
            }
        });
    }

    private Exchange connect(ExchangeOptions options) {
        return Exchange.connect("127.0.0.1", server.port(), options, TIMEOUT);
    }

    private static ByteBuffer bytes(String text) {
        return ByteBuffer.wrap(text.getBytes(UTF_8));
    }

    private void assertEcho(ExchangeOptions options) {
        try (Exchange exchange = connect(options)) {
            exchange.send(bytes("first"));
            assertThat(exchange.receive(TIMEOUT)).isEqualTo(bytes("first"));
            exchange.send(bytes(""));
            assertThat(exchange.receive(TIMEOUT)).isEqualTo(bytes(""));
        }
    }

    private void assertRefused(ExchangeOptions options, Reason reason, String words) {
        assertThatThrownBy(() -> connect(options))
                .isInstanceOfSatisfying(
                        SetupFailedException.class,
                        failure -> assertThat(failure.reason()).isEqualTo(reason))
                .hasMessageContaining(words);
        assertThat(served).hasValue(0);
    }

    @Test
    void bothSidesConverse() {
        echo(OPTIONS);

        assertEcho(OPTIONS);
        assertEcho(OPTIONS);
    }

    @Test
    void bytesWithoutFramesFollowTheLastMessage() throws IOException {
        listen(OPTIONS, exchange -> {
            exchange.send(exchange.receive(TIMEOUT));
            try {
                var _ = exchange.socket().write(bytes("bytes"));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });

        try (Exchange exchange = connect(OPTIONS)) {
            exchange.send(bytes("last message"));
            assertThat(exchange.receive(TIMEOUT)).isEqualTo(bytes("last message"));
            assertThat(Channels.newInputStream(exchange.socket()).readAllBytes())
                    .asString(UTF_8)
                    .isEqualTo("bytes");
        }
    }

    @Test
    void aPeerWithTheSecretIsServed() {
        echo(OPTIONS.withSecret(SECRET));

        assertEcho(OPTIONS.withSecret(SECRET));
    }

    @Test
    void aPeerWithoutTheSecretIsNotServed() {
        echo(OPTIONS.withSecret(SECRET));

        assertRefused(OPTIONS.withSecret(Secret.of("another one, as long".getBytes(UTF_8))), Reason.UNPROVED, "secret");
        try (Exchange exchange = connect(OPTIONS)) {
            exchange.send(bytes("let me in"));
            assertThatThrownBy(() -> exchange.receive(TIMEOUT))
                    .isInstanceOfSatisfying(
                            SetupFailedException.class,
                            failure -> assertThat(failure.reason()).isEqualTo(Reason.UNPROVED));
        }
        assertThat(served).hasValue(0);
    }

    @Test
    void bothUseTheHighestCommonVersionAndTheCommonFeatures() {
        CompletableFuture<String> terms = new CompletableFuture<>();
        listen(OPTIONS.withVersions(2, 5).withFeatures(0b110), exchange -> {
            var _ = terms.complete(exchange.version() + " " + exchange.features());
            var _ = exchange.awaitEnd();
        });

        try (Exchange exchange = connect(OPTIONS.withVersions(1, 3).withFeatures(0b011))) {
            exchange.send(bytes("hello"));
            assertThat(exchange.version()).isEqualTo(3);
            assertThat(exchange.features()).isEqualTo(0b010);
            assertThat(terms.orTimeout(TIMEOUT.toSeconds(), TimeUnit.SECONDS).join())
                    .isEqualTo("3 2");
        }
    }

    @Test
    void aPeerOfOtherVersionsIsNotServed() {
        echo(OPTIONS.withVersions(3, 4));

        assertRefused(OPTIONS, Reason.OTHER_VERSION, "update the program on this side");
    }

    @Test
    void aPeerOfAnotherProtocolIsNotServed() {
        echo(OPTIONS);

        assertRefused(ExchangeOptions.of("org.example.other"), Reason.PROTOCOL_VIOLATED, "org.example.echo protocol");
    }

    @Test
    void theReasonOfARefusalReachesThePeer() {
        listen(OPTIONS, exchange -> exchange.refuse("not today"));

        try (Exchange exchange = connect(OPTIONS)) {
            exchange.send(bytes("hello"));
            assertThatThrownBy(() -> exchange.receive(TIMEOUT))
                    .isInstanceOfSatisfying(
                            SetupFailedException.class,
                            failure -> assertThat(failure.reason()).isEqualTo(Reason.REFUSED))
                    .hasMessageContaining("not today");
        }
    }

    @Test
    void aMessageIsNotLongerThanTheLimit() {
        echo(OPTIONS);

        try (Exchange exchange = connect(OPTIONS)) {
            exchange.send(ByteBuffer.allocate(Exchange.MAX_MESSAGE_BYTES));
            assertThat(exchange.receive(TIMEOUT).remaining()).isEqualTo(Exchange.MAX_MESSAGE_BYTES);
            assertThatThrownBy(() -> exchange.send(ByteBuffer.allocate(Exchange.MAX_MESSAGE_BYTES + 1)))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    private static void end(Exchange exchange) {
        exchange.close();
    }

    @Test
    void aWaitEndsAtItsTimeoutAndAtClose() {
        listen(OPTIONS, exchange -> {
            var _ = exchange.awaitEnd();
        });

        try (Exchange exchange = connect(OPTIONS)) {
            exchange.send(bytes("hello"));
            assertThatThrownBy(() -> exchange.receive(SHORT)).isInstanceOf(DeadlineException.class);
            end(exchange);
            assertThatThrownBy(() -> exchange.receive(TIMEOUT)).isInstanceOf(ClosedException.class);
        }
    }

    @Test
    void closingTheServerEndsItsConversations() throws InterruptedException {
        CountDownLatch conversing = new CountDownLatch(1);
        listen(OPTIONS, exchange -> {
            conversing.countDown();
            var _ = exchange.receive(TIMEOUT);
            var _ = exchange.receive(TIMEOUT);
        });

        try (Exchange exchange = connect(OPTIONS)) {
            exchange.send(bytes("hello"));
            assertThat(conversing.await(TIMEOUT.toSeconds(), TimeUnit.SECONDS)).isTrue();
            server.close();
            assertThatThrownBy(() -> exchange.receive(TIMEOUT))
                    .isInstanceOfSatisfying(
                            PeerFailedException.class,
                            e -> assertThat(e.reason()).isEqualTo(PeerFailedException.Reason.GONE));
        }
    }

    @Test
    void aHandlerCannotCloseItsServer() {
        CompletableFuture<Throwable> failure = new CompletableFuture<>();
        listen(OPTIONS, _ -> {
            try {
                server.close();
            } catch (IllegalStateException e) {
                var _ = failure.complete(e);
            }
        });

        try (Exchange exchange = connect(OPTIONS)) {
            exchange.send(bytes("hello"));
            assertThat(failure.orTimeout(TIMEOUT.toSeconds(), TimeUnit.SECONDS).join())
                    .hasMessageContaining("org.example.echo");
        }
    }

    @Test
    void theOldestSilentPeerGivesWay() throws IOException {
        echo(OPTIONS.withMaxUnproved(1));

        try (Socket silent = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
            silent.setSoTimeout((int) TIMEOUT.toMillis());
            assertEcho(OPTIONS);
            assertThat(silent.getInputStream().readAllBytes()).asString(UTF_8).contains("too many are connecting");
        }
    }

    @Test
    void aPeerThatDoesNotReadCostsOneStep() {
        CompletableFuture<Throwable> failure = new CompletableFuture<>();
        listen(OPTIONS.withStep(Duration.ofSeconds(1)), exchange -> {
            try {
                while (true) {
                    exchange.send(ByteBuffer.allocate(Exchange.MAX_MESSAGE_BYTES));
                }
            } catch (DeadlineException e) {
                var _ = failure.complete(e);
            }
        });

        try (Exchange exchange = connect(OPTIONS)) {
            exchange.send(bytes("hello"));
            assertThat(failure.orTimeout(TIMEOUT.toSeconds(), TimeUnit.SECONDS).join())
                    .hasMessageContaining("did not read");
        }
    }

    @Test
    void oneConversationMoreThanTheLimitIsToldThatTheServerIsBusy() {
        echo(OPTIONS.withMaxConversations(1));

        try (Exchange exchange = connect(OPTIONS);
                Exchange second = connect(OPTIONS)) {
            exchange.send(bytes("hello"));
            assertThat(exchange.receive(TIMEOUT)).isEqualTo(bytes("hello"));
            second.send(bytes("hello"));
            assertThatThrownBy(() -> second.receive(TIMEOUT))
                    .isInstanceOfSatisfying(
                            SetupFailedException.class,
                            refusal -> assertThat(refusal.reason()).isEqualTo(Reason.BUSY));
        }
    }

    @Test
    void aStrangerCostsOnlyItsConnection() throws IOException {
        echo(OPTIONS);

        try (Socket stranger = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
            stranger.setSoTimeout((int) TIMEOUT.toMillis());
            stranger.getOutputStream().write("GET / HTTP/1.1\r\n\r\n".getBytes(UTF_8));
            assertThat(stranger.getInputStream().readAllBytes()).asString(UTF_8).contains("speaks another protocol");
        } catch (SocketException _) {
            // The server has closed the connection before it read everything.
        }
        assertEcho(OPTIONS);
        assertThat(served).hasValue(1);
    }
}
