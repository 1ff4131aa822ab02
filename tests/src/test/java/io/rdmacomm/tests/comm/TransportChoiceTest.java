package io.rdmacomm.tests.comm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.comm.BufferSlice;
import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.Message;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.Session;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.tests.fixture.Fabric;
import io.rdmacomm.tests.fixture.LeakCheck;
import io.rdmacomm.verbs.Rdma;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Two software devices of one host use the same transport, although only one of them would take shared memory.
@ExtendWith(LeakCheck.class)
final class TransportChoiceTest {
    private static final String SHARES = Fabric.SOFT_ONE_PROCESS.device();
    private static final String SHARES_NOT = Fabric.TCP_ONE_PROCESS.device();
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final int MESSAGES = 100;

    private static SessionOptions on(String device, int port) {
        return SessionOptions.defaults().withDevice(device).withAddress("127.0.0.1", port);
    }

    @Test
    void oneThatDoesNotShareGetsTcp() {
        assertThat(linksBetween(SHARES, SHARES_NOT)).isPositive();
        assertThat(linksBetween(SHARES_NOT, SHARES)).isPositive();
    }

    @Test
    void twoThatShareDoNotCallEachOther() {
        assertThat(linksBetween(SHARES, SHARES)).isZero();
    }

    private static long linksBetween(String deviceOfServer, String deviceOfClient) {
        try (ServerSession server = ServerSession.listen(on(deviceOfServer, 0));
                ClientSession client = ClientSession.connect(on(deviceOfClient, server.port()))) {
            EndPoint peer = server.accept(TIMEOUT);
            talk(client, client.endPoint(), server, peer);
            talk(server, peer, client, client.endPoint());
            return client.context().counters(1).get("tcp_links");
        }
    }

    /// One side sees the memory of the other, and not the other way round: as with mounts or rights of
    /// containers.
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void oneThatIsNotSeenGetsTcp(boolean clientHides) {
        try (ServerSession server = ServerSession.listen(on(SHARES, 0))) {
            int port = server.context().port(1).lid();
            SessionOptions options = on(SHARES, server.port()).withConfigurer((index, proposed) -> {
                // The device of the client is open, and nothing is connected yet.
                hide(clientHides ? otherThan(port) : port);
                return proposed;
            });
            try (ClientSession client = ClientSession.connect(options)) {
                EndPoint peer = server.accept(TIMEOUT);
                talk(client, client.endPoint(), server, peer);
                talk(server, peer, client, client.endPoint());

                assertThat(client.context().counters(1).get("tcp_links")).isPositive();
            }
        }
    }

    /// The port of the other context of this process.
    private static int otherThan(int port) {
        return Rdma.openContexts().stream()
                .filter(context -> context.device().name().equals(SHARES))
                .mapToInt(context -> context.port(1).lid())
                .filter(each -> each != port)
                .findFirst()
                .orElseThrow();
    }

    /// Removes the socket in the folder of a context, which others connect to.
    private static void hide(int lid) {
        Path root = Path.of(System.getProperty("rdmacomm.soft.directory"));
        try (Stream<Path> found = Files.walk(root)) {
            Path socket = found.filter(path -> path.endsWith(Path.of(Integer.toString(lid), "socket")))
                    .findFirst()
                    .orElseThrow();
            Files.delete(socket);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void talk(Session sender, EndPoint from, Session receiver, EndPoint to) {
        try (RdmaBuffer buffer = sender.allocate("to " + receiver.name(), Long.BYTES)) {
            for (long i = 0; i < MESSAGES; i++) {
                BufferSlice message = buffer.block(0);
                message.segment().set(ValueLayout.JAVA_LONG, 0, i);
                from.channel(0).blocking(TIMEOUT).send(message);
                try (Message arrived = to.channel(0).blocking(TIMEOUT).receive()) {
                    assertThat(arrived.segment().get(ValueLayout.JAVA_LONG_UNALIGNED, 0))
                            .isEqualTo(i);
                }
            }
        }
    }
}
