package io.rdmacomm.cli.interop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.cli.command.CommandOutput;
import io.rdmacomm.cli.rig.WatchedSocket.Waiting;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/// A server whose clients connect twice, over plain sockets.
class StreamServerTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    private static final StreamOptions.Plan PLAN = new StreamOptions.Plan(
            List.of(List.of(StreamTest.custom(10, 3, 2)), List.of(StreamTest.custom(100, 2, 1))),
            Waiting.BLOCKING,
            true,
            65_536);

    private final StringWriter printed = new StringWriter();

    private StreamServer server(Duration timeout) throws IOException {
        CommandOutput output = new CommandOutput(new PrintWriter(printed), new PrintWriter(printed), "stream");
        return new StreamServer(
                SelectorProvider.provider(),
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                PLAN,
                timeout,
                output);
    }

    private static SocketChannel connect(StreamServer server) throws IOException {
        return SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), server.port()));
    }

    private static CompletableFuture<Void> serve(StreamServer server) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        Thread.ofPlatform().daemon().start(() -> {
            try {
                server.serveOne();
                done.complete(null);
            } catch (IOException | RuntimeException e) {
                done.completeExceptionally(e);
            }
        });
        return done;
    }

    @Test
    void thePatternGoesOnInTheSecondConnection() throws Exception {
        try (StreamServer server = server(TIMEOUT)) {
            CompletableFuture<Void> done = serve(server);
            StreamEnd end = new StreamEnd(PLAN, false, TIMEOUT, _ -> {});
            for (List<StreamTest> tests : PLAN.connections()) {
                end.run(connect(server), tests);
            }
            done.get(60, TimeUnit.SECONDS);
            assertThat(end.checked()).isEqualTo(16 + 60 + 16 + 200);
        }
    }

    @Test
    void aClientThatDoesNotConnectAgainEndsTheWait() throws Exception {
        try (StreamServer server = server(Duration.ofSeconds(1))) {
            CompletableFuture<Void> done = serve(server);
            new StreamEnd(PLAN, false, TIMEOUT, _ -> {})
                    .run(connect(server), PLAN.connections().getFirst());
            assertThatThrownBy(() -> done.get(60, TimeUnit.SECONDS))
                    .cause()
                    .isInstanceOf(CommandFailure.class)
                    .hasMessageContaining("it has not connected a second time for 1.0 s");
        }
    }

    @Test
    void aCloseEndsTheWaitForAClient() throws Exception {
        StreamServer server = server(TIMEOUT);
        CompletableFuture<Void> done = serve(server);
        server.close();
        done.get(60, TimeUnit.SECONDS);
        assertThat(printed.toString()).isEmpty();
    }
}
