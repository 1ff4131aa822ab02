package io.rdmacomm.tests.comm;

import static io.rdmacomm.tests.comm.ConnectedPair.TIMEOUT;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.Deadlines;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.tests.fixture.LeakCheck;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/// More silent strangers than a server keeps.
@ExtendWith(LeakCheck.class)
final class FloodTest {
    private static final int STRANGERS = 1100;
    // None of them gives up meanwhile.
    private static final SessionOptions OPTIONS = SessionOptions.defaults()
            .withAddress("127.0.0.1", 0)
            .withDeadlines(Deadlines.defaults().withHandshake(Duration.ofMinutes(10)));

    private final List<Socket> strangers = new ArrayList<>();

    @AfterEach
    void close() throws IOException {
        for (Socket stranger : strangers) {
            stranger.close();
        }
    }

    @Test
    void silentStrangersLockNobodyOut() throws IOException {
        try (ServerSession server = ServerSession.listen(OPTIONS)) {
            Socket first = stranger(server);
            for (int i = 1; i < STRANGERS; i++) {
                var _ = stranger(server);
            }
            first.setSoTimeout((int) TIMEOUT.toMillis());
            assertThat(new String(first.getInputStream().readAllBytes(), UTF_8)).contains("silent for longest");
            for (int i = 0; i < 3; i++) {
                try (ClientSession client = ClientSession.connect(OPTIONS.withPort(server.port()))) {
                    assertThat(server.accept(TIMEOUT).peerName()).isEqualTo(client.name());
                }
                var _ = stranger(server);
            }
        }
    }

    private Socket stranger(ServerSession server) throws IOException {
        Socket stranger = new Socket(InetAddress.getLoopbackAddress(), server.port());
        strangers.add(stranger);
        return stranger;
    }
}
