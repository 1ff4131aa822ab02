package io.rdmacomm.tests.comm;

import static io.rdmacomm.tests.comm.ConnectedPair.TIMEOUT;
import static io.rdmacomm.tests.comm.ConnectedPair.eventually;
import static io.rdmacomm.tests.fixture.PeerFailure.peer;
import static io.rdmacomm.tests.fixture.SetupFailure.because;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.ClosedException;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.EndPointState;
import io.rdmacomm.comm.Message;
import io.rdmacomm.comm.PeerFailedException;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.RemoteBuffer;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.SetupFailedException.Reason;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.DeadlineException;
import io.rdmacomm.verbs.Rdma;
import io.rdmacomm.verbs.RdmaException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Servers that connect to other servers, and connections that one side aborts.
final class PeerSessionsTest {
    private static final SessionOptions OPTIONS = SessionOptions.defaults().withAddress("127.0.0.1", 0);

    @AfterEach
    void nothingIsLeftOpen() {
        assertThat(Rdma.openContexts()).isEmpty();
    }

    @Test
    void oneBufferServesConnectionsInBothDirections() {
        try (ServerSession middle = ServerSession.listen(OPTIONS);
                ServerSession far = ServerSession.listen(OPTIONS);
                ClientSession near = ClientSession.connect(OPTIONS.withPort(middle.port()))) {
            EndPoint toFar = middle.connect("127.0.0.1", far.port(), TIMEOUT);
            EndPoint toNear = middle.accept(TIMEOUT);
            EndPoint atFar = far.accept(TIMEOUT);
            RdmaBuffer buffer = middle.allocate("buffer", 64);
            toFar.announce(buffer, AccessFlag.allRemote());
            toNear.announce(buffer, AccessFlag.allRemote());

            write(near.allocate("text", 64), near.endPoint(), "near", 0);
            write(far.allocate("text", 64), atFar, "far", 32);

            assertThat(buffer.segment().getString(0)).isEqualTo("near");
            assertThat(buffer.segment().getString(32)).isEqualTo("far");
            assertThat(middle.endPoints()).containsExactlyInAnyOrder(toFar, toNear);
            assertThatThrownBy(() -> middle.accept(Duration.ofMillis(1))).isInstanceOf(DeadlineException.class);
        }
    }

    private static void write(RdmaBuffer from, EndPoint through, String text, long offset) {
        RemoteBuffer remote = through.peerBuffer("buffer", TIMEOUT);
        from.segment().setString(0, text);
        through.channel(0).blocking(TIMEOUT).write(from.slice(0, text.length() + 1), remote, offset);
    }

    @Test
    void aServerCannotConnectWhereNobodyListens() throws IOException {
        int port;
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = socket.getLocalPort();
        }
        try (ServerSession session = ServerSession.listen(OPTIONS)) {
            assertThatThrownBy(() -> session.connect("127.0.0.1", port, TIMEOUT))
                    .satisfies(because(Reason.REFUSED))
                    .hasMessageContaining("no program listens on 127.0.0.1:" + port);
            assertThat(session.endPoints()).isEmpty();
        }
    }

    /// The other side accepts the connection and says nothing.
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void closingAndInterruptingEndConnecting(boolean closing) throws Exception {
        SessionOptions patient = OPTIONS.withDeadlines(OPTIONS.deadlines().withHandshake(Duration.ofMinutes(10)));
        try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                ServerSession session = ServerSession.listen(patient)) {
            CompletableFuture<Throwable> result = new CompletableFuture<>();
            AtomicReference<Boolean> interrupted = new AtomicReference<>(false);
            Thread connecting = Thread.ofPlatform().start(() -> {
                try {
                    session.connect("127.0.0.1", silent.getLocalPort(), TIMEOUT);
                    result.complete(new AssertionError("it is connected"));
                } catch (RdmaException e) {
                    interrupted.set(Thread.currentThread().isInterrupted());
                    result.complete(e);
                }
            });
            try (Socket peer = silent.accept()) {
                // HELLO has arrived: it waits for the answer.
                assertThat(peer.getInputStream().read()).isEqualTo('R');
                Runnable end = closing ? session::close : connecting::interrupt;
                end.run();
                connecting.join();
            }
            assertThat(result.join()).isInstanceOf(closing ? ClosedException.class : RdmaException.class);
            assertThat(interrupted.get()).as("the interrupt of a caller stays").isEqualTo(!closing);
            if (!closing) {
                assertThat(result.join()).isNotInstanceOf(ClosedException.class);
            } else {
                assertThatThrownBy(() -> session.connect("127.0.0.1", silent.getLocalPort(), TIMEOUT))
                        .isInstanceOf(ClosedException.class);
            }
        }
    }

    @Test
    void anAbortTellsThePeerWhyAndEndsPendingCalls() {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            CompletableFuture<Message> own = pair.clientChannel().async().receive();
            CompletableFuture<Message> peers = pair.serverChannel().async().receive();

            pair.clientEnd.abort(42, new RdmaException("the disk is full", null));

            assertThat(pair.clientEnd.state()).isEqualTo(EndPointState.FAILED);
            assertThatThrownBy(own::join)
                    .hasCauseInstanceOf(ClosedException.class)
                    .hasMessageContaining("the disk is full");
            eventually(() -> pair.serverEnd.state() == EndPointState.FAILED);
            assertThat(pair.serverEnd.failure()).isInstanceOfSatisfying(PeerFailedException.class, failure -> {
                assertThat(failure.code()).isEqualTo(42);
                assertThat(failure.peerMessage()).isEqualTo("the disk is full");
            });
            assertThatThrownBy(peers::join)
                    .hasCauseInstanceOf(ClosedException.class)
                    .hasMessageContaining("the peer has aborted: the disk is full");
            pair.serverEnd.abort(43, new RdmaException("too late", null));
            assertThat(pair.serverEnd.failure()).satisfies(peer(PeerFailedException.Reason.ABORTED));
        }
    }

    @Test
    void aLongReasonIsCutAndControlCharactersAreLeftOut() {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            pair.serverEnd.abort(-1, new RdmaException("bell \u0007 and " + "ü".repeat(10_000), null));

            eventually(() -> pair.clientEnd.failure() != null);
            assertThat(pair.clientEnd.failure())
                    .satisfies(peer(PeerFailedException.Reason.ABORTED))
                    .hasMessageStartingWith("the peer has aborted: bell ? and üüü");
            assertThat(pair.clientEnd.failure().getMessage()).hasSizeLessThan(600);
        }
    }
}
