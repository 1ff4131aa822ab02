package io.rdmacomm.tests.comm;

import static io.rdmacomm.tests.comm.ConnectedPair.TIMEOUT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.RemoteBuffer;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.tests.fixture.LeakCheck;
import io.rdmacomm.verbs.RdmaException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Sessions with default options on devices that do less than the software device, as many adapters do.
@ExtendWith(LeakCheck.class)
final class LesserDeviceTest {
    private static final int MORE_THAN_TO_BEGIN_WITH = 6;

    private static SessionOptions device(String restriction) {
        return SessionOptions.defaults().withDevice("fault:soft0?" + restriction);
    }

    @ParameterizedTest
    @ValueSource(strings = {"lacks=ATOMICS", "inline=48", "inline=1", "inline=0", "lacks=ATOMICS&inline=0"})
    void messagesAndWritesWork(String restriction) {
        try (ConnectedPair pair = ConnectedPair.of(device(restriction))) {
            RdmaBuffer source = pair.client.allocate("source", 64);
            RdmaBuffer target = pair.server.allocate("target", 64);
            source.segment().set(JAVA_LONG, 0, 77);
            var blocking = pair.clientChannel().blocking(TIMEOUT);
            RemoteBuffer remote = pair.target(target);
            for (int length : new int[] {8, 16, 32, 48, 64}) {
                blocking.write(source.slice(0, length), remote, 0);
            }
            assertThat(target.segment().get(JAVA_LONG, 0)).isEqualTo(77);
            blocking.send(source.slice(0, 8));
            try (var message = pair.serverChannel().blocking(TIMEOUT).receive()) {
                assertThat(message.segment().get(JAVA_LONG, 0)).isEqualTo(77);
            }
        }
    }

    @Test
    void atomicsFailWhereTheDeviceHasNone() {
        try (ConnectedPair pair = ConnectedPair.of(device("lacks=ATOMICS"))) {
            RemoteBuffer remote = pair.target(pair.server.allocate("target", 64));
            var blocking = pair.clientChannel().blocking(TIMEOUT);
            assertThatThrownBy(() -> blocking.fetchAndAdd(remote, 0, 1))
                    .isInstanceOfAny(RdmaException.class, IllegalArgumentException.class)
                    .hasMessageContaining("REMOTE_ATOMIC");
        }
    }

    @Test
    void aServerHasManyClientsWhereCompletionQueuesCannotBeResized() {
        SessionOptions options = device("lacks=RESIZE_COMPLETION_QUEUE");
        List<ClientSession> clients = new ArrayList<>();
        try (ConnectedPair pair = ConnectedPair.of(options)) {
            for (int i = 0; i < MORE_THAN_TO_BEGIN_WITH; i++) {
                clients.add(ClientSession.connect(options.withAddress("127.0.0.1", pair.server.port())));
            }
            assertThat(pair.server.accept(TIMEOUT)).isNotNull();
        } finally {
            clients.forEach(ClientSession::close);
        }
    }
}
