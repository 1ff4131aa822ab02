package io.rdmacomm.cli.bench.trial;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import org.junit.jupiter.api.Test;

/// The port of the comparison with plain sockets, which takes no secret.
class SocketFloorTest {
    private static final InetAddress HERE = InetAddress.ofLiteral("127.0.0.1");
    private static final InetAddress OTHER = InetAddress.ofLiteral("127.0.0.2");

    @Test
    void listensOnlyWhereTheServerDoes() throws IOException {
        try (SocketFloor floor = new SocketFloor("127.0.0.1", HERE);
                Socket elsewhere = new Socket()) {
            assertThatThrownBy(() -> elsewhere.connect(new InetSocketAddress(OTHER, floor.port())))
                    .isInstanceOf(ConnectException.class);
        }
    }

    @Test
    void servesOnlyItsClient() throws Exception {
        try (SocketFloor floor = new SocketFloor("127.0.0.1", HERE);
                Socket stranger = new Socket(HERE, floor.port(), OTHER, 0)) {
            Thread serving = Thread.ofPlatform().start(() -> serve(floor));

            SocketFloor.Figures figures = SocketFloor.measure(new InetSocketAddress(HERE, floor.port()));

            assertThat(figures.micros()).isPositive();
            assertThat(stranger.getInputStream().read()).isEqualTo(-1);
            serving.join();
        }
    }

    private static void serve(SocketFloor floor) {
        try {
            floor.serve();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
