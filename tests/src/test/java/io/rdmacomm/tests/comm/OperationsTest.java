package io.rdmacomm.tests.comm;

import static io.rdmacomm.tests.comm.ConnectedPair.TIMEOUT;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.comm.AsyncChannel;
import io.rdmacomm.comm.BlockingChannel;
import io.rdmacomm.comm.BufferSlice;
import io.rdmacomm.comm.ChannelBatch;
import io.rdmacomm.comm.ClosedException;
import io.rdmacomm.comm.CompletionHandler;
import io.rdmacomm.comm.Message;
import io.rdmacomm.comm.OperationException;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.RemoteBuffer;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.ThreadMode;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.DeadlineException;
import io.rdmacomm.verbs.WorkStatus;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Every operation in every form.
final class OperationsTest {
    private ConnectedPair pair;
    private RdmaChannel channel;
    private RdmaBuffer source;
    private RdmaBuffer target;
    private RemoteBuffer remote;

    @BeforeEach
    void connect() {
        pair = ConnectedPair.of(SessionOptions.defaults().withThreadMode(ThreadMode.SHARED_CQ));
        channel = pair.clientChannel();
        source = pair.client.allocate("source", 1024, 8);
        target = pair.server.allocate("target", 1024, 8);
        remote = pair.target(target);
        for (int i = 0; i < 1024; i++) {
            source.segment().set(JAVA_BYTE, i, (byte) i);
        }
    }

    @AfterEach
    void close() {
        pair.close();
    }

    private static void assertSame(MemorySegment one, MemorySegment other) {
        assertThat(one.mismatch(other)).isEqualTo(-1);
    }

    @Test
    void theHandlerOfAWriteGetsItsContextAndLengthOnce() {
        List<String> told = new ArrayList<>();
        CompletionHandler handler = (on, context, status, result) -> {
            synchronized (told) {
                told.add(on.name() + context + status + result);
            }
        };

        assertThat(channel.tryWrite(source.slice(0, 700), remote, 100, handler, 42)
                        .isAccepted())
                .isTrue();

        pair.until(() -> {
            synchronized (told) {
                return !told.isEmpty();
            }
        });
        assertThat(told).containsExactly(channel.name() + "42SUCCESS700");
        assertSame(target.slice(100, 700).segment(), source.slice(0, 700).segment());
        assertThat(target.segment().get(JAVA_BYTE, 99)).isZero();
        assertThat(target.segment().get(JAVA_BYTE, 800)).isZero();
    }

    @Test
    void aReadReturnsThePeersData() {
        target.segment().fill((byte) 9);
        BlockingChannel blocking = channel.blocking(TIMEOUT);

        blocking.read(source.block(3), remote, 2048);

        assertSame(source.block(3).segment(), target.block(2).segment());
        assertThat(source.segment().get(JAVA_BYTE, 2 * 1024L)).isZero();
    }

    @Test
    void atomicsReturnTheOldValue() throws ExecutionException, InterruptedException {
        target.segment().set(JAVA_LONG, 16, 40);
        AsyncChannel async = channel.async();

        assertThat(async.fetchAndAdd(remote, 16, 2).get()).isEqualTo(40);
        assertThat(async.compareAndSwap(remote, 16, 41, 7).get()).isEqualTo(42);
        assertThat(async.compareAndSwap(remote, 16, 42, 7).get()).isEqualTo(42);
        assertThat(target.segment().get(JAVA_LONG, 16)).isEqualTo(7);
    }

    @Test
    void manyAtomicsInFlightKeepTheirResultsApart() {
        List<CompletableFuture<Long>> results = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            results.add(channel.async().fetchAndAdd(remote, 0, 1));
        }
        for (int i = 0; i < 300; i++) {
            assertThat(results.get(i).join()).isEqualTo(i);
        }
    }

    @Test
    void aMessageArrivesWithItsTagAndInOrder() {
        BlockingChannel sender = channel.blocking(TIMEOUT);
        BlockingChannel receiver = pair.serverChannel().blocking(TIMEOUT);
        sender.send(source.slice(0, 10));
        sender.send(source.slice(10, 20), -5);
        sender.send(source.slice(0, 0));

        try (Message message = receiver.receive()) {
            assertThat(message.hasTag()).isFalse();
            assertThat(message.isNotice()).isFalse();
            assertThat(message.length()).isEqualTo(10);
            assertSame(message.segment(), source.slice(0, 10).segment());
        }
        try (Message message = receiver.receive()) {
            assertThat(message.hasTag()).isTrue();
            assertThat(message.tag()).isEqualTo(-5);
            assertSame(message.segment(), source.slice(10, 20).segment());
        }
        try (Message message = receiver.receive()) {
            assertThat(message.length()).isZero();
        }
    }

    @Test
    void aWriteWithNoticeIsThereWhenTheNoticeArrives() {
        channel.blocking(TIMEOUT).writeNotify(source.slice(0, 512), remote, 512, 77);

        try (Message notice = pair.serverChannel().blocking(TIMEOUT).receive()) {
            assertThat(notice.isNotice()).isTrue();
            assertThat(notice.tag()).isEqualTo(77);
            assertThat(notice.length()).isEqualTo(512);
            assertThat(notice.segment().byteSize()).isZero();
            assertSame(target.slice(512, 512).segment(), source.slice(0, 512).segment());
        }
    }

    @Test
    void aHandlerGetsWhatArrivedBeforeItWasSetAndWhatArrivesAfter() {
        List<Integer> tags = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            channel.blocking(TIMEOUT).send(source.slice(0, 8), i);
        }
        pair.serverChannel().onMessage((on, message) -> {
            synchronized (tags) {
                tags.add(message.tag());
            }
        });
        for (int i = 5; i < 200; i++) {
            channel.blocking(TIMEOUT).send(source.slice(0, 8), i);
        }
        pair.until(() -> {
            synchronized (tags) {
                return tags.size() == 200;
            }
        });
        for (int i = 0; i < 200; i++) {
            assertThat(tags.get(i)).isEqualTo(i);
        }
    }

    @Test
    void aRetainedMessageStaysUntilItIsClosed() {
        List<Message> kept = new ArrayList<>();
        pair.serverChannel().onMessage((on, message) -> {
            synchronized (kept) {
                kept.add(message.retain());
            }
        });
        for (int i = 0; i < 10; i++) {
            source.segment().set(JAVA_BYTE, 0, (byte) (50 + i));
            channel.blocking(TIMEOUT).send(source.slice(0, 1));
        }
        pair.until(() -> {
            synchronized (kept) {
                return kept.size() == 10;
            }
        });
        for (int i = 0; i < 10; i++) {
            assertThat(kept.get(i).text()).isEqualTo(Character.toString(50 + i));
            kept.get(i).close();
        }
    }

    @Test
    void futuresOfMessagesAreServedInOrder() throws ExecutionException, InterruptedException {
        CompletableFuture<Message> first = pair.serverChannel().async().receive();
        CompletableFuture<Message> second = pair.serverChannel().async().receive();
        channel.blocking(TIMEOUT).send(source.slice(0, 8), 1);
        channel.blocking(TIMEOUT).send(source.slice(0, 8), 2);

        assertThat(first.get().tag()).isEqualTo(1);
        assertThat(second.get().tag()).isEqualTo(2);
    }

    @Test
    void aBatchCompletesEveryOperationInOrder() {
        List<Long> contexts = new ArrayList<>();
        CompletionHandler handler = (on, context, status, result) -> {
            synchronized (contexts) {
                contexts.add(status == WorkStatus.SUCCESS ? context : -1);
            }
        };
        ChannelBatch batch = channel.batch(8);
        for (int i = 0; i < 8; i++) {
            assertThat(batch.write(source.block(i), remote, i * 1024L, handler, i))
                    .isTrue();
        }
        assertThat(batch.write(source.block(0), remote, 0, handler, 99)).isFalse();
        source.segment().asSlice(1024).fill((byte) 3);

        assertThat(batch.tryPost().isAccepted()).isTrue();
        assertThat(batch.size()).isZero();

        pair.until(() -> {
            synchronized (contexts) {
                return contexts.size() == 8;
            }
        });
        assertThat(contexts).containsExactly(0L, 1L, 2L, 3L, 4L, 5L, 6L, 7L);
        assertSame(target.segment(), source.segment());
    }

    @Test
    void aBatchMixesMessagesWritesAndReads() {
        ChannelBatch batch = channel.batch(4);
        CompletableFuture<Long> last = new CompletableFuture<>();
        target.segment().asSlice(4096, 1024).fill((byte) 4);
        batch.write(source.block(0), remote, 0, CompletionHandler.NONE, 0);
        batch.read(source.block(5), remote, 4096, CompletionHandler.NONE, 0);
        batch.send(source.slice(0, 3), 8, CompletionHandler.NONE, 0);
        batch.writeNotify(source.block(0), remote, 1024, 9, (on, context, status, result) -> last.complete(context), 5);

        assertThat(batch.tryPost().isAccepted()).isTrue();

        assertThat(last.join()).isEqualTo(5);
        assertSame(source.block(5).segment(), target.block(4).segment());
        BlockingChannel receiver = pair.serverChannel().blocking(TIMEOUT);
        try (Message message = receiver.receive();
                Message notice = receiver.receive()) {
            assertThat(message.tag()).isEqualTo(8);
            assertThat(notice.tag()).isEqualTo(9);
        }
        assertSame(target.block(0).segment(), source.block(0).segment());
        assertSame(target.block(1).segment(), source.block(0).segment());
    }

    @Test
    void rangesAreCheckedBeforeAnythingIsPosted() {
        BufferSlice slice = source.slice(0, 100);
        CompletionHandler none = CompletionHandler.NONE;

        assertThatThrownBy(() -> channel.tryWrite(slice, remote, target.length() - 99, none, 0))
                .isInstanceOf(IndexOutOfBoundsException.class)
                .hasMessageContaining("'target'");
        assertThatThrownBy(() -> channel.tryRead(slice, remote, -1, none, 0))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> channel.tryRead(slice, remote, Long.MAX_VALUE, none, 0))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> channel.tryFetchAndAdd(remote, 4, 1, none, 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("multiple of 8");
        assertThatThrownBy(() -> source.slice(1, source.length())).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> slice.slice(50, 51)).isInstanceOf(IndexOutOfBoundsException.class);
        channel.blocking(TIMEOUT).write(slice, remote, 0);
    }

    @Test
    void rightsAreCheckedBeforeAnythingIsPosted() {
        RdmaBuffer readOnly = pair.server.allocate("read-only", 64, 1, Set.of(AccessFlag.REMOTE_READ));
        RemoteBuffer known = pair.target(readOnly);
        assertThat(known.access()).containsExactly(AccessFlag.REMOTE_READ);

        assertThatThrownBy(() -> channel.tryWrite(source.slice(0, 8), known, 0, CompletionHandler.NONE, 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("does not allow REMOTE_WRITE");
        channel.blocking(TIMEOUT).read(source.slice(0, 8), known, 0);
    }

    @Test
    void buffersOfAnotherSessionAreRejected() {
        RdmaBuffer foreign = pair.server.allocate("foreign", 64);

        assertThatThrownBy(() -> channel.trySend(foreign.slice(0, 8), CompletionHandler.NONE, 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("another session");
    }

    @Test
    void remoteBuffersOfAnotherEndPointAreRejected() {
        try (ConnectedPair other = ConnectedPair.ofDefaults()) {
            RemoteBuffer foreign = other.target(other.server.allocate("there", 64));

            assertThatThrownBy(() -> channel.tryWrite(source.slice(0, 8), foreign, 0, CompletionHandler.NONE, 0))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("another endpoint");
        }
    }

    @Test
    void aMessageLongerThanThePeerReceivesIsRejected() {
        RdmaBuffer big = pair.client.allocate("big", channel.maxMessageBytes() + 1L);

        assertThatThrownBy(() -> channel.trySend(big.whole(), CompletionHandler.NONE, 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("longer than");
        channel.blocking(TIMEOUT).send(big.slice(0, channel.maxMessageBytes()));
    }

    @Test
    void aBufferMayWrapTheCallersMemory() {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment mine = arena.allocate(256);
            mine.fill((byte) 6);
            RdmaBuffer wrapped = pair.client.wrap("mine", mine, AccessFlag.allRemote());

            channel.blocking(TIMEOUT).write(wrapped.whole(), remote, 0);
            channel.blocking(TIMEOUT).read(wrapped.slice(0, 8), remote, 1024);

            assertThat(target.segment().get(JAVA_BYTE, 255)).isEqualTo((byte) 6);
            assertThat(mine.get(JAVA_LONG, 0)).isZero();
            wrapped.close();
        }
    }

    @Test
    void aFailureNamesOperationChannelStatusAndHint() {
        RemoteBuffer invented = RemoteBuffer.of("invented", 4096, 64, 0x1234, AccessFlag.allRemote());

        assertThatThrownBy(() -> channel.blocking(TIMEOUT).write(source.slice(0, 8), invented, 0))
                .isInstanceOf(OperationException.class)
                .hasMessageContaining("write on " + channel.name())
                .hasMessageContaining("REMOTE_ACCESS_ERROR")
                .hasMessageContaining("the peer's buffer is closed")
                .extracting(e -> ((OperationException) e).status())
                .isEqualTo(WorkStatus.REMOTE_ACCESS_ERROR);
        assertThatThrownBy(() -> channel.blocking(TIMEOUT).write(source.slice(0, 8), remote, 0))
                .isInstanceOf(ClosedException.class)
                .hasCauseInstanceOf(OperationException.class);
    }

    @Test
    void receivingEndsAtItsDeadline() {
        assertThatThrownBy(() -> channel.blocking(Duration.ofMillis(30)).receive())
                .isInstanceOf(DeadlineException.class)
                .hasMessageContaining("30 ms");
    }

    @Test
    void textIsUtf8() {
        byte[] text = "Grüße, 世界".getBytes(StandardCharsets.UTF_8);
        MemorySegment.copy(text, 0, source.segment(), JAVA_BYTE, 0, text.length);
        channel.blocking(TIMEOUT).send(source.slice(0, text.length));

        try (Message message = pair.serverChannel().blocking(TIMEOUT).receive()) {
            assertThat(message.text()).isEqualTo("Grüße, 世界");
        }
    }
}
