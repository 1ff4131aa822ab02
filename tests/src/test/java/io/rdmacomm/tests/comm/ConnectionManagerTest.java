package io.rdmacomm.tests.comm;

import static io.rdmacomm.tests.fixture.SetupFailure.because;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.comm.ChannelOptions;
import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.EndPointState;
import io.rdmacomm.comm.Message;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.RemoteBuffer;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.Setup;
import io.rdmacomm.comm.SetupFailedException.Reason;
import io.rdmacomm.comm.ThreadMode;
import io.rdmacomm.tests.fixture.LeakCheck;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.PathMtu;
import io.rdmacomm.verbs.PathOptions;
import io.rdmacomm.verbs.RdmaException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// End points whose queue pairs are connected by the connection manager, as iWARP devices need it.
@ExtendWith(LeakCheck.class)
class ConnectionManagerTest {
    private static final Duration TIMEOUT = ConnectedPair.TIMEOUT;
    private static final SessionOptions OPTIONS = SessionOptions.defaults().withSetup(Setup.CONNECTION_MANAGER);

    @ParameterizedTest
    @EnumSource(ThreadMode.class)
    void messagesAndMemoryTravelBothWaysOnEveryChannel(ThreadMode mode) {
        SessionOptions options = OPTIONS.withChannels(3).withThreadMode(mode);
        try (ConnectedPair pair = ConnectedPair.of(options)) {
            RdmaBuffer board = pair.server.allocate("board", 4096);
            pair.serverEnd.announce(board, AccessFlag.allRemote());
            RemoteBuffer remote = pair.clientEnd.peerBuffer("board", TIMEOUT);
            RdmaBuffer text = pair.client.allocate("text", 64);
            for (int i = 0; i < 3; i++) {
                String words = "channel " + i;
                text.segment().setString(0, words, StandardCharsets.UTF_8);
                pair.clientEnd.channel(i).blocking(TIMEOUT).write(text.slice(0, words.length() + 1), remote, 100L * i);
                pair.clientEnd.channel(i).blocking(TIMEOUT).send(text.slice(0, words.length()));
                try (Message message =
                        pair.serverEnd.channel(i).blocking(TIMEOUT).receive()) {
                    assertThat(message.text()).isEqualTo(words);
                }
                assertThat(board.segment().getString(100L * i)).isEqualTo(words);
                pair.serverEnd.channel(i).blocking(TIMEOUT).send(board.slice(100L * i, words.length()));
                try (Message message =
                        pair.clientEnd.channel(i).blocking(TIMEOUT).receive()) {
                    assertThat(message.text()).isEqualTo(words);
                }
            }
        }
    }

    @Test
    void partsOfAPathThatTheConnectionManagerChoosesAreRejected() {
        PathOptions usual = PathOptions.defaults();
        for (PathOptions path : List.of(
                usual.withMtu(PathMtu.MTU_1024),
                usual.withQuality(3, 0),
                usual.withGidIndex(0),
                usual.withPartitionKeyIndex(1))) {
            SessionOptions options = OPTIONS.withChannel(ChannelOptions.defaults()
                    .withConnection(ConnectionOptions.defaults().withPath(path)));
            assertThatThrownBy(() -> ServerSession.listen(options.withPort(0)))
                    .isInstanceOf(RdmaException.class)
                    .hasMessageContaining("chooses all of a path except its traffic class")
                    .hasMessageContaining(path.toString());
        }
    }

    @Test
    void theServerMaySendFirst() {
        try (ConnectedPair pair = ConnectedPair.of(OPTIONS)) {
            RdmaBuffer text = pair.server.allocate("text", 64);
            text.segment().setString(0, "first");

            pair.serverChannel().blocking(TIMEOUT).send(text.slice(0, 5));

            try (Message message = pair.clientChannel().blocking(TIMEOUT).receive()) {
                assertThat(message.text()).isEqualTo("first");
            }
        }
    }

    @Test
    void manyMessagesRunOnCreditsAlone() {
        SessionOptions options = OPTIONS.withChannel(
                ChannelOptions.defaults().withReceives(4).withMessageBytes(64).withSendWindow(8));
        try (ConnectedPair pair = ConnectedPair.of(options)) {
            RdmaBuffer text = pair.client.allocate("text", 64);
            Thread receiver = Thread.ofVirtual().start(() -> {
                for (int i = 0; i < 200; i++) {
                    try (Message message =
                            pair.serverChannel().blocking(TIMEOUT).receive()) {
                        assertThat(message.tag()).isEqualTo(i);
                    }
                }
            });
            for (int i = 0; i < 200; i++) {
                pair.clientChannel().blocking(TIMEOUT).send(text.slice(0, 8), i);
            }
            ConnectedPair.eventually(() -> !receiver.isAlive());
        }
    }

    @Test
    void aServerUsesTheConnectionManagerIfTheClientHasNothingElse() {
        try (ConnectedPair pair = new ConnectedPair(SessionOptions.defaults(), OPTIONS)) {
            Thread other = Thread.ofVirtual().start(() -> pair.clientEnd.barrier(TIMEOUT));
            pair.serverEnd.barrier(TIMEOUT);
            ConnectedPair.eventually(() -> !other.isAlive());
        }
    }

    @Test
    void twoSidesWithNothingInCommonGetAnErrorThatNamesBoth() {
        try (ServerSession server = ServerSession.listen(OPTIONS.withAddress("127.0.0.1", 0))) {
            SessionOptions numbers =
                    SessionOptions.defaults().withSetup(Setup.NUMBERS).withAddress("127.0.0.1", server.port());

            assertThatThrownBy(() -> ClientSession.connect(numbers))
                    .satisfies(because(Reason.REFUSED))
                    .hasMessageContaining("by connection manager only")
                    .hasMessageContaining("by numbers only");
        }
    }

    @Test
    void closingInOrderIsSeenAsSuchByThePeer() {
        try (ConnectedPair pair = ConnectedPair.of(OPTIONS)) {
            pair.clientEnd.close();

            assertThat(pair.serverEnd.awaitPeerDone(TIMEOUT)).isTrue();
            assertThat(pair.serverEnd.failure()).isNull();
            assertThat(pair.serverEnd.state()).isEqualTo(EndPointState.PEER_DONE);
        }
    }

    @Test
    void clientsComeAndGo() {
        try (ServerSession server = ServerSession.listen(OPTIONS.withAddress("127.0.0.1", 0))) {
            for (int i = 0; i < 10; i++) {
                try (ClientSession client = ClientSession.connect(OPTIONS.withAddress("127.0.0.1", server.port()));
                        EndPoint here = server.accept(TIMEOUT)) {
                    assertThat(here.state()).isEqualTo(EndPointState.READY);
                    assertThat(client.endPoint().state()).isEqualTo(EndPointState.READY);
                }
            }
            ConnectedPair.eventually(() -> server.endPoints().isEmpty());
        }
    }
}
