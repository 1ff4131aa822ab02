package io.rdmacomm.tests.comm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.comm.ChannelOptions;
import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.Session;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.tests.fixture.LeakCheck;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.PathMtu;
import io.rdmacomm.verbs.PathOptions;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Both sides of a session connect with the same path MTU, the smaller one. A device rejects packets that are longer
/// than its own; the software device only remembers the value.
@ExtendWith(LeakCheck.class)
final class PathMtuTest {
    private static final int QUEUE_PAIR_NUMBERS = 1 << 24;

    private static SessionOptions with(PathMtu mtu, int port) {
        ConnectionOptions how =
                ConnectionOptions.defaults().withPath(PathOptions.defaults().withMtu(mtu));
        return SessionOptions.defaults()
                .withAddress("127.0.0.1", port)
                .withChannel(ChannelOptions.defaults().withConnection(how));
    }

    @ParameterizedTest
    @CsvSource({"MTU_256, MTU_4096, MTU_256", "MTU_4096, MTU_512, MTU_512", "MTU_1024, MTU_256, MTU_256"})
    void theSmallerOneCounts(PathMtu ofServer, PathMtu ofClient, PathMtu expected) {
        try (ServerSession server = ServerSession.listen(with(ofServer, 0));
                ClientSession client = ClientSession.connect(with(ofClient, server.port()))) {
            var _ = server.accept(Duration.ofSeconds(30));

            // The control channel and the data channel.
            assertThat(mtus(server)).hasSize(2).containsOnly(expected);
            assertThat(mtus(client)).hasSize(2).containsOnly(expected);
        }
    }

    private static List<PathMtu> mtus(Session session) {
        List<PathMtu> found = new ArrayList<>();
        for (int number = 0; number < QUEUE_PAIR_NUMBERS; number++) {
            QueuePair pair = session.context().queuePair(number);
            if (pair != null && pair.state() == QueuePairState.READY_TO_SEND) {
                found.add(pair.query().pathMtu());
            }
        }
        return found;
    }
}
