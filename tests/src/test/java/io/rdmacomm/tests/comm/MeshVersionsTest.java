package io.rdmacomm.tests.comm;

import static io.rdmacomm.tests.comm.ConnectedPair.TIMEOUT;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.comm.BufferSlice;
import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.Message;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.SetupFailedException;
import io.rdmacomm.comm.setup.FrameType;
import io.rdmacomm.mesh.Mesh;
import io.rdmacomm.mesh.Rendezvous;
import io.rdmacomm.tests.fixture.LeakCheck;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Meshes with nodes of other releases.
@ExtendWith(LeakCheck.class)
final class MeshVersionsTest {
    private static final SessionOptions OPTIONS = SessionOptions.defaults().withDevice("soft0");
    private static final int INTRODUCTION_BYTES = 32;
    private static final String PROTOCOL = "io.rdmacomm.mesh";
    private static final byte REGISTER = 1;
    private static final byte TABLE = 2;
    private static final byte READY = 3;

    private final int port = MeshNodes.freePort();

    private CompletableFuture<Mesh> join(int rank, int at) {
        Rendezvous rendezvous = Rendezvous.of(rank, 2, "127.0.0.1", at);
        return MeshNodes.inThread(() -> Mesh.join(rendezvous, OPTIONS, TIMEOUT));
    }

    /// The greeting of a node.
    private static ByteBuffer greeting(int lowest, int highest) {
        return ByteBuffer.allocate(18 + PROTOCOL.length())
                .put(FramedSocket.greeting(lowest, highest, 0).putShort(0, (short) 4))
                .putShort((short) PROTOCOL.length())
                .put(PROTOCOL.getBytes(UTF_8))
                .flip();
    }

    @Test
    void aNodeOfALaterReleaseTakesPart() throws IOException {
        try (LaterRelease line = new LaterRelease(port)) {
            CompletableFuture<Mesh> first = join(0, port);
            // The line calls the rendezvous once.
            reached().close();
            CompletableFuture<Mesh> second = join(1, line.port());
            try (Mesh one = first.join();
                    Mesh two = second.join()) {
                CompletableFuture<Boolean> there = MeshNodes.inThread(() -> {
                    two.barrier(TIMEOUT);
                    return true;
                });
                one.barrier(TIMEOUT);
                assertThat(there.join()).isTrue();
            }
            assertThat(line.hasSeenMessage(REGISTER) && line.hasSeenMessage(TABLE))
                    .isTrue();
        }
    }

    /// A node that another program has written, as far as it goes without one: it introduces itself as in version 1, or
    /// says more.
    @ParameterizedTest
    @ValueSource(ints = {0, 13})
    void anIntroductionMayHaveMoreBehindIt(int more) throws IOException {
        CompletableFuture<Mesh> joining = join(0, port);
        try (FramedSocket rendezvous = reached()) {
            rendezvous.send(FrameType.GREETING, greeting(1, 7));
            rendezvous.send(FrameType.MESSAGE, registration());
            ByteBuffer table = rendezvous.next().payload();
            assertThat(table.get(0)).isEqualTo(TABLE);
            int session = table.getShort(34) & 0xffff;
            try (ClientSession client =
                    ClientSession.connect(OPTIONS.withChannels(2).withAddress("127.0.0.1", session))) {
                RdmaChannel channel = client.endPoint().channel(1);
                introduce(client, channel, table.slice(1, 16), more);
                try (Message message = channel.blocking(TIMEOUT).receive()) {
                    ByteBuffer answer = message.segment().asByteBuffer();
                    assertThat(answer.slice(8, 16)).isEqualTo(table.slice(1, 16));
                    assertThat(answer.getInt(24)).as("from").isZero();
                    assertThat(answer.getInt(28)).as("to").isOne();
                }
                rendezvous.send(
                        FrameType.MESSAGE, ByteBuffer.allocate(1).put(READY).flip());
                assertThat(rendezvous.next().payload().get(0)).isEqualTo(READY);
                try (Mesh mesh = joining.join()) {
                    assertThat(mesh.peers()).hasSize(1);
                }
            }
        }
    }

    /// The node that listens may start a moment later.
    private FramedSocket reached() {
        FramedSocket[] reached = new FramedSocket[1];
        ConnectedPair.eventually(() -> {
            try {
                reached[0] = new FramedSocket(new Socket(InetAddress.ofLiteral("127.0.0.1"), port));
                return true;
            } catch (IOException e) {
                return false;
            }
        });
        return reached[0];
    }

    private static ByteBuffer registration() {
        return ByteBuffer.allocate(19)
                .put(REGISTER)
                .putInt(2)
                .putInt(1)
                .putShort((short) 1000)
                .putShort((short) 2)
                .putInt((int) TIMEOUT.toMillis())
                .rewind();
    }

    private static void introduce(ClientSession client, RdmaChannel channel, ByteBuffer token, int more) {
        BufferSlice slice = client.allocate("introduction", 64, 1).block(0).slice(0, INTRODUCTION_BYTES + more);
        ByteBuffer to = slice.segment().asByteBuffer();
        to.put("RDMAMESH".getBytes(UTF_8)).put(token).putInt(1).putInt(0);
        to.put(new byte[more]);
        channel.blocking(TIMEOUT).send(slice);
    }

    @Test
    void aRendezvousWithoutACommonVersionIsNamedWithBothRanges() throws IOException {
        try (ServerSocket later = new ServerSocket(port, 1, InetAddress.ofLiteral("127.0.0.1"))) {
            CompletableFuture<Mesh> joining = join(1, port);
            try (FramedSocket node = new FramedSocket(later.accept())) {
                assertThat(node.nextOfAny().payload()).isEqualTo(greeting(1, 1));
                node.send(FrameType.GREETING, greeting(2, 3));

                assertThatThrownBy(joining::join)
                        .isInstanceOf(CompletionException.class)
                        .hasCauseInstanceOf(SetupFailedException.class)
                        .hasMessageContaining(
                                "speaks versions 2 to 3 of the io.rdmacomm.mesh protocol, this side version 1")
                        .hasMessageContaining("update the program on this side");
            }
        }
    }
}
