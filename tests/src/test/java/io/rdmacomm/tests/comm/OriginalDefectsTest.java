package io.rdmacomm.tests.comm;

import static io.rdmacomm.tests.comm.ConnectedPair.TIMEOUT;
import static io.rdmacomm.tests.comm.ConnectedPair.eventually;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.comm.BufferSlice;
import io.rdmacomm.comm.ChannelOptions;
import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.CompletionHandler;
import io.rdmacomm.comm.Message;
import io.rdmacomm.comm.OperationException;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.RemoteBuffer;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.ThreadMode;
import io.rdmacomm.comm.setup.FrameType;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.PathOptions;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.WorkStatus;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/// Defects of the C++ original that no other test here rules out. The whole list is in docs/46-migration.md.
final class OriginalDefectsTest {
    private static final SessionOptions OPTIONS = SessionOptions.defaults().withAddress("127.0.0.1", 0);

    @Test
    void d3AFailureOfOneEndPointIsNoFailureOfAnother() {
        try (ServerSession server = ServerSession.listen(OPTIONS);
                ClientSession bad = ClientSession.connect(OPTIONS.withPort(server.port()));
                ClientSession good = ClientSession.connect(OPTIONS.withPort(server.port()))) {
            RdmaBuffer target = server.allocate("target", 8);
            for (int i = 0; i < 2; i++) {
                server.accept(TIMEOUT).announce(target, AccessFlag.allRemote());
            }
            RemoteBuffer invented = RemoteBuffer.of("invented", 8, 8, 99, AccessFlag.allRemote());
            BufferSlice mine = bad.allocate("source", 8).block(0);
            assertThatThrownBy(() -> bad.endPoint().channel(0).blocking(TIMEOUT).write(mine, invented, 0))
                    .isInstanceOf(OperationException.class);

            RemoteBuffer remote = good.endPoint().peerBuffer("target", TIMEOUT);
            for (int i = 0; i < 1000; i++) {
                assertThat(good.endPoint().channel(0).blocking(TIMEOUT).fetchAndAdd(remote, 0, 1))
                        .isEqualTo(i);
            }
        }
    }

    @Test
    void r1EveryReceiveHasMemoryOfItsOwn() {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            RdmaBuffer source = pair.client.allocate("source", 8, 64);
            for (int i = 0; i < 40; i++) {
                source.segment().set(JAVA_LONG, i * 8L, i);
                pair.clientChannel().blocking(TIMEOUT).send(source.block(i));
            }
            List<Message> held = new ArrayList<>();
            for (int i = 0; i < 40; i++) {
                held.add(pair.serverChannel().blocking(TIMEOUT).receive());
            }
            for (int i = 0; i < 40; i++) {
                assertThat(held.get(i).block().get(JAVA_LONG, 0)).isEqualTo(i);
                held.get(i).close();
            }
        }
    }

    @Test
    void r5TheHandlersOfOneChannelNeverRunAtTheSameTime() {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            AtomicLong inside = new AtomicLong();
            AtomicLong overlaps = new AtomicLong();
            AtomicLong seen = new AtomicLong();
            Set<Thread> threads = ConcurrentHashMap.newKeySet();
            Runnable body = () -> {
                overlaps.addAndGet(inside.incrementAndGet() == 1 ? 0 : 1);
                threads.add(Thread.currentThread());
                seen.incrementAndGet();
                inside.decrementAndGet();
            };
            CompletionHandler handler = (on, context, status, result) -> body.run();
            pair.clientChannel().onMessage((on, message) -> body.run());
            BufferSlice mine = pair.client.allocate("source", 8).block(0);
            BufferSlice theirs = pair.server.allocate("source", 8).block(0);
            pair.serverChannel().onMessage((on, message) -> {});
            for (int i = 0; i < 2000; i++) {
                while (!pair.clientChannel().trySend(mine, handler, 0).isAccepted()) {
                    Thread.onSpinWait();
                }
                while (!pair.serverChannel()
                        .trySend(theirs, CompletionHandler.NONE, 0)
                        .isAccepted()) {
                    Thread.onSpinWait();
                }
            }
            eventually(() -> seen.get() == 4000);
            assertThat(overlaps.get()).isZero();
            assertThat(threads).hasSize(1);
        }
    }

    @Test
    void r8TwoSessionsNeverTakeEachOthersCompletions() {
        SessionOptions options = SessionOptions.defaults().withThreadMode(ThreadMode.SHARED_CQ);
        try (ConnectedPair one = ConnectedPair.of(options);
                ConnectedPair two = ConnectedPair.of(options)) {
            for (ConnectedPair pair : List.of(one, two, one, two)) {
                BufferSlice slice =
                        pair.client.allocate("source" + System.nanoTime(), 8).block(0);
                for (int i = 0; i < 300; i++) {
                    pair.clientChannel().blocking(TIMEOUT).send(slice, i);
                    try (Message message =
                            pair.serverChannel().blocking(TIMEOUT).receive()) {
                        assertThat(message.tag()).isEqualTo(i);
                    }
                }
            }
        }
    }

    @Test
    void w1TheGidIndexAndThePortHaveAnEffect() {
        PathOptions gid = PathOptions.defaults().withGidIndex(77);
        PathOptions port = PathOptions.defaults().withPort(9).withGidIndex(0);

        for (PathOptions wrong : List.of(gid, port)) {
            ConnectionOptions connection = ConnectionOptions.defaults().withPath(wrong);
            SessionOptions options = OPTIONS.withDevice("soft0")
                    .withChannel(ChannelOptions.defaults().withConnection(connection));
            assertThatThrownBy(() -> ServerSession.listen(options)).isInstanceOf(VerbException.class);
        }
    }

    @Test
    void w2TheRightsOfAQueuePairAreThoseOfItsOptions() {
        ConnectionOptions noReads = ConnectionOptions.defaults().withAccessFlags(Set.of(AccessFlag.REMOTE_WRITE));
        SessionOptions server =
                SessionOptions.defaults().withChannel(ChannelOptions.defaults().withConnection(noReads));
        try (ConnectedPair pair = new ConnectedPair(server, SessionOptions.defaults())) {
            RemoteBuffer remote = pair.target(pair.server.allocate("target", 8));
            RdmaBuffer local = pair.client.allocate("local", 8);
            pair.clientChannel().blocking(TIMEOUT).write(local.block(0), remote, 0);

            assertThatThrownBy(() -> pair.clientChannel().blocking(TIMEOUT).read(local.block(0), remote, 0))
                    .isInstanceOf(OperationException.class)
                    .extracting(e -> ((OperationException) e).status())
                    .isIn(WorkStatus.REMOTE_INVALID_REQUEST, WorkStatus.REMOTE_ACCESS_ERROR);
        }
    }

    @Test
    void w3AnInlineMessageMayBeChangedAsSoonAsItIsTaken() {
        SessionOptions options = SessionOptions.defaults().withThreadMode(ThreadMode.SHARED_CQ);
        try (ConnectedPair pair = ConnectedPair.of(options)) {
            RdmaBuffer source = pair.client.allocate("source", 8);
            RdmaChannel channel = pair.clientChannel();
            for (int i = 0; i < 1000; i++) {
                source.segment().set(JAVA_LONG, 0, i);
                while (!channel.trySend(source.block(0), CompletionHandler.NONE, 0)
                        .isAccepted()) {
                    Thread.onSpinWait();
                }
                source.segment().set(JAVA_LONG, 0, -1);
                try (Message message = pair.serverChannel().blocking(TIMEOUT).receive()) {
                    assertThat(message.block().get(JAVA_LONG, 0)).isEqualTo(i);
                }
            }
        }
    }

    @Test
    void w6AnotherLinkLayerIsRejectedWithAReason() throws IOException {
        ByteBuffer payload = ByteBuffer.allocate(18 + 2 * 56).put((byte) 1).put((byte) 1);
        payload.putShort((short) 2)
                .putShort((short) 0)
                .putShort((short) 0)
                .putLong(0)
                .putShort((short) 56);
        for (int i = 0; i < 2; i++) {
            payload.putInt(17).putInt(5).putShort((short) 0).put((byte) 3).put((byte) 16);
            payload.putLong(0).putLong(0xffff_7f00_0001L);
            payload.putInt(16).putInt(64).putInt(0).putLong(4096).putInt(7).putInt(0);
        }
        try (ServerSession server = ServerSession.listen(OPTIONS);
                FramedSocket client = new FramedSocket(server.port())) {
            boolean infiniBand = server.context().port(1).linkLayer().code() == 1;
            assertThat(infiniBand).isFalse();
            client.send(FrameType.HELLO, payload.flip());

            assertThat(client.next().text()).contains("choose devices on the same network");
        }
    }

    @Test
    void w14APollAsksTheCompletionQueueOnceHoweverManyChannelsThereAre() {
        SessionOptions options =
                SessionOptions.defaults().withThreadMode(ThreadMode.CALLER).withChannels(4);
        try (ConnectedPair pair = ConnectedPair.of(options)) {
            BufferSlice slice = pair.client.allocate("source", 8).block(0);
            AtomicLong ended = new AtomicLong();
            CompletionHandler handler = (on, context, status, result) -> ended.incrementAndGet();
            for (RdmaChannel channel : pair.clientEnd.channels()) {
                assertThat(channel.trySend(slice, handler, 0).isAccepted()).isTrue();
            }
            eventually(() -> {
                int before = (int) ended.get();
                int polled = pair.clientEnd.channel(0).poll();
                return polled >= ended.get() - before && ended.get() == 4;
            });
        }
    }

    @Test
    void w18AFailureIsNamedForWhatFailed() {
        SessionOptions tooLong = OPTIONS.withThreadMode(ThreadMode.PER_QUEUE_PAIR)
                .withChannel(ChannelOptions.defaults()
                        .withSendWindow(1 << 16)
                        .withReceives(64)
                        .withMessageBytes(64));
        try (ServerSession server = ServerSession.listen(OPTIONS)) {
            assertThatThrownBy(() -> ClientSession.connect(tooLong.withPort(server.port())))
                    .hasMessageContaining("send queue depth 65538")
                    .hasMessageContaining("max_qp_wr");
        }
    }
}
