package io.rdmacomm.tests.comm;

import static io.rdmacomm.tests.comm.ConnectedPair.TIMEOUT;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.comm.ChannelOptions;
import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.Message;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.ThreadMode;
import io.rdmacomm.tests.fixture.LeakCheck;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/// The threads of a server with default options do not depend on the number of its clients and their
/// channels.
@ExtendWith(LeakCheck.class)
final class ServerThreadsTest {
    private static final int CLIENTS = 64;
    private static final int CHANNELS = 2;

    private static final SessionOptions OPTIONS = SessionOptions.defaults()
            .withPort(0)
            .withChannels(CHANNELS)
            .withChannel(
                    ChannelOptions.defaults().withReceives(2).withSendWindow(2).withMessageBytes(64));

    /// Those that virtual threads run on are as many as there are processors, whatever they do.
    private static Set<String> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> !name.startsWith("ForkJoinPool") && !name.startsWith("VirtualThread"))
                .collect(Collectors.toSet());
    }

    @Test
    void neitherClientsNorChannelsCostThreads() {
        // A server without threads for data can connect as often as it likes.
        try (ServerSession server = ServerSession.listen(OPTIONS);
                ServerSession clients = ServerSession.listen(OPTIONS.withThreadMode(ThreadMode.CALLER))) {
            connect(server, clients);
            Set<String> before = threads();
            for (int i = 1; i < CLIENTS; i++) {
                connect(server, clients);
            }

            Set<String> more = new HashSet<>(threads());
            more.removeAll(before);
            assertThat(server.endPoints()).hasSize(CLIENTS);
            assertThat(more).isEmpty();
        }
    }

    private static void connect(ServerSession server, ServerSession clients) {
        EndPoint there = clients.connect("127.0.0.1", server.port(), TIMEOUT);
        EndPoint here = server.accept(TIMEOUT);
        try (RdmaBuffer buffer = clients.allocate(64, 1)) {
            for (RdmaChannel channel : there.channels()) {
                channel.blocking(TIMEOUT).send(buffer.whole());
            }
            for (RdmaChannel channel : here.channels()) {
                try (Message message = channel.blocking(TIMEOUT).receive()) {
                    assertThat(message.segment().byteSize()).isEqualTo(64);
                }
            }
        }
    }

    @Test
    void thoseOfASessionAreKnown() {
        try (ServerSession server = ServerSession.listen(OPTIONS);
                ClientSession client = ClientSession.connect(OPTIONS.withPort(server.port()))) {
            assertThat(server.options().threadMode()).isEqualTo(ThreadMode.SHARED_CQ);
            assertThat(client.options().threadMode()).isEqualTo(ThreadMode.PER_QUEUE_PAIR);
        }
        SessionOptions set = OPTIONS.withThreadMode(ThreadMode.PER_QUEUE_PAIR);
        try (ServerSession server = ServerSession.listen(set)) {
            assertThat(server.options().threadMode()).isEqualTo(ThreadMode.PER_QUEUE_PAIR);
        }
    }
}
