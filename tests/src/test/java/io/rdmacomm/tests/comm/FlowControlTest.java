package io.rdmacomm.tests.comm;

import static io.rdmacomm.tests.comm.ConnectedPair.TIMEOUT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.comm.Admission;
import io.rdmacomm.comm.BufferSlice;
import io.rdmacomm.comm.ChannelBatch;
import io.rdmacomm.comm.ChannelOptions;
import io.rdmacomm.comm.CompletionHandler;
import io.rdmacomm.comm.Message;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.RemoteBuffer;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.ThreadMode;
import io.rdmacomm.verbs.DeadlineException;
import io.rdmacomm.verbs.statistics.ChannelCounter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// A full queue is back-pressure, never an error: neither here nor at the peer.
final class FlowControlTest {
    private static SessionOptions options(int window, int receives) {
        return SessionOptions.defaults()
                .withThreadMode(ThreadMode.CALLER)
                .withChannel(ChannelOptions.defaults()
                        .withSendWindow(window)
                        .withReceives(receives)
                        .withMessageBytes(64));
    }

    @Test
    void aFullWindowIsAnAnswerAndNotAnException() {
        try (ConnectedPair pair = ConnectedPair.of(options(4, 64))) {
            RdmaBuffer source = pair.client.allocate("source", 64);
            RemoteBuffer remote = pair.target(pair.server.allocate("target", 64));
            RdmaChannel channel = pair.clientChannel();
            AtomicLong ended = new AtomicLong();
            CompletionHandler handler = (on, context, status, result) -> ended.incrementAndGet();

            int taken = 0;
            while (channel.tryWrite(source.block(0), remote, 0, handler, 0).isAccepted()) {
                taken++;
            }

            assertThat(taken).isEqualTo(4);
            assertThat(channel.tryWrite(source.block(0), remote, 0, handler, 0)).isEqualTo(Admission.WINDOW_FULL);
            assertThat(channel.inFlight()).isEqualTo(4);
            assertThat(channel.statistics().value(ChannelCounter.WINDOW_STALLS)).isEqualTo(2);
            pair.until(() -> ended.get() == 4);
            assertThat(channel.tryWrite(source.block(0), remote, 0, handler, 0).isAccepted())
                    .isTrue();
            pair.until(() -> ended.get() == 5);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 7, 64})
    void aReceiverThatDoesNothingStopsTheSenderAndNothingBreaks(int receives) {
        try (ConnectedPair pair = ConnectedPair.of(options(256, receives))) {
            RdmaBuffer source = pair.client.allocate("source", 64);
            BufferSlice slice = source.slice(0, 8);
            RdmaChannel channel = pair.clientChannel();
            int sent = 0;
            while (channel.trySend(slice, sent, CompletionHandler.NONE, 0).isAccepted()) {
                sent++;
            }
            assertThat(sent).isEqualTo(receives);
            assertThat(channel.trySend(slice, sent, CompletionHandler.NONE, 0)).isEqualTo(Admission.NO_CREDIT);
            assertThat(channel.statistics().value(ChannelCounter.CREDIT_STALLS)).isEqualTo(1);

            int next = 0;
            while (next < 1000) {
                pair.server.poll();
                Message message = pair.serverChannel().tryReceive();
                if (message != null) {
                    assertThat(message.tag()).isEqualTo(next++);
                    message.close();
                }
                pair.client.poll();
                if (channel.trySend(slice, sent, CompletionHandler.NONE, 0).isAccepted()) {
                    sent++;
                }
            }
            assertThat(pair.clientEnd.failure()).isNull();
            assertThat(pair.serverChannel().statistics().value(ChannelCounter.CREDIT_UPDATES))
                    .isPositive();
        }
    }

    @Test
    void creditsOutliveTheWindowAndTheRing() {
        try (ConnectedPair pair = ConnectedPair.of(options(8, 8))) {
            RdmaBuffer source = pair.client.allocate("source", 64);
            BufferSlice slice = source.slice(0, 8);
            AtomicLong received = new AtomicLong();
            AtomicLong back = new AtomicLong();
            RdmaBuffer reply = pair.server.allocate("reply", 64);
            pair.serverChannel().onMessage((on, message) -> received.incrementAndGet());
            pair.clientChannel().onMessage((on, message) -> back.incrementAndGet());
            long sent = 0;
            long replied = 0;
            while (received.get() < 50_000 || back.get() < 50_000) {
                sent += sent < 50_000
                                && pair.clientChannel()
                                        .trySend(slice, CompletionHandler.NONE, 0)
                                        .isAccepted()
                        ? 1
                        : 0;
                replied += replied < 50_000
                                && pair.serverChannel()
                                        .trySend(reply.slice(0, 8), CompletionHandler.NONE, 0)
                                        .isAccepted()
                        ? 1
                        : 0;
                pair.client.poll();
                pair.server.poll();
            }
            assertThat(received.get()).isEqualTo(50_000);
            assertThat(back.get()).isEqualTo(50_000);
        }
    }

    @Test
    void waitingOperationsStartInOrderAndBeforeThoseThatDoNotWait() {
        SessionOptions options = options(2, 4).withThreadMode(ThreadMode.SHARED_CQ);
        try (ConnectedPair pair = ConnectedPair.of(options)) {
            RdmaBuffer source = pair.client.allocate("source", 64);
            BufferSlice slice = source.slice(0, 8);
            RdmaChannel channel = pair.clientChannel();
            List<CompletableFuture<?>> sends = new ArrayList<>();
            for (int i = 0; i < 500; i++) {
                sends.add(channel.async().send(slice, i));
            }
            assertThat(channel.trySend(slice, 999, CompletionHandler.NONE, 0)).isEqualTo(Admission.OTHERS_WAIT);
            for (int i = 0; i < 500; i++) {
                try (Message message = pair.serverChannel().blocking(TIMEOUT).receive()) {
                    assertThat(message.tag()).isEqualTo(i);
                }
            }
            sends.forEach(CompletableFuture::join);
        }
    }

    @Test
    void anOperationThatFindsNoRoomInTimeFailsAndHasNoEffect() {
        try (ConnectedPair pair = ConnectedPair.of(options(8, 1).withThreadMode(ThreadMode.PER_QUEUE_PAIR))) {
            RdmaBuffer source = pair.client.allocate("source", 64);
            BufferSlice slice = source.slice(0, 8);
            RdmaChannel channel = pair.clientChannel();
            channel.blocking(TIMEOUT).send(slice, 1);

            assertThatThrownBy(() -> channel.blocking(Duration.ofMillis(50)).send(slice, 2))
                    .isInstanceOf(DeadlineException.class)
                    .hasMessageContaining("the peer receives too slowly")
                    .hasMessageContaining("not closed")
                    .hasMessageNotContaining("window");
            CompletableFuture<?> future = channel.async(Duration.ofMillis(50)).send(slice, 3);
            assertThatThrownBy(future::join).hasCauseInstanceOf(DeadlineException.class);

            CompletableFuture<?> patient = channel.async().send(slice, 4);
            try (Message message = pair.serverChannel().blocking(TIMEOUT).receive()) {
                assertThat(message.tag()).isEqualTo(1);
            }
            try (Message message = pair.serverChannel().blocking(TIMEOUT).receive()) {
                assertThat(message.tag()).isEqualTo(4);
            }
            patient.join();
        }
    }

    /// The window stays full because the polling thread is in a handler that does not return.
    @Test
    void theReasonIsTheWindowIfThatIsFull() throws InterruptedException {
        SessionOptions options = options(2, 8).withThreadMode(ThreadMode.SHARED_CQ);
        try (ConnectedPair pair = ConnectedPair.of(options)) {
            BufferSlice slice = pair.client.allocate("source", 64).slice(0, 8);
            RdmaChannel channel = pair.clientChannel();
            CountDownLatch over = new CountDownLatch(1);
            CountDownLatch begun = new CountDownLatch(1);
            CompletionHandler blocking = (on, context, status, result) -> {
                begun.countDown();
                ConnectedPair.eventually(() -> over.getCount() == 0);
            };
            try {
                assertThat(channel.trySend(slice, blocking, 0).isAccepted()).isTrue();
                assertThat(begun.await(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS))
                        .isTrue();
                while (channel.trySend(slice, CompletionHandler.NONE, 0).isAccepted()) {
                    // Until the window is full.
                }
                assertThatThrownBy(() -> channel.blocking(Duration.ofMillis(50)).send(slice))
                        .isInstanceOf(DeadlineException.class)
                        .hasMessageContaining("the send window is full")
                        .hasMessageNotContaining("peer");
            } finally {
                over.countDown();
            }
        }
    }

    /// Both sides name the cause: the program of the receiver has not closed what it received.
    @Test
    void messagesThatAreNotClosedAreNamedAsTheCauseOfTheStall() {
        try (ConnectedPair pair = ConnectedPair.of(options(8, 4).withThreadMode(ThreadMode.SHARED_CQ))) {
            BufferSlice slice = pair.client.allocate("source", 64).slice(0, 8);
            RdmaChannel receiver = pair.serverChannel();
            List<Message> kept = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                pair.clientChannel().blocking(TIMEOUT).send(slice);
                kept.add(receiver.blocking(TIMEOUT).receive());
            }
            assertThatThrownBy(() ->
                            pair.clientChannel().blocking(Duration.ofMillis(50)).send(slice))
                    .isInstanceOf(DeadlineException.class)
                    .hasMessageContaining("has not returned")
                    .hasMessageContaining("not closed");
            assertThatThrownBy(() -> receiver.blocking(Duration.ofMillis(50)).receive())
                    .isInstanceOf(DeadlineException.class)
                    .hasMessageContaining("4 messages that it received before are not closed");
            kept.removeFirst().close();
            assertThatThrownBy(() -> receiver.blocking(Duration.ofMillis(50)).receive())
                    .isInstanceOf(DeadlineException.class)
                    .hasMessageContaining("3 messages that it received before are not closed");
            kept.forEach(Message::close);
            assertThatThrownBy(() -> receiver.blocking(Duration.ofMillis(50)).receive())
                    .isInstanceOf(DeadlineException.class)
                    .hasMessageNotContaining("closed");
        }
    }

    /// A handler that retains its messages never asks for one, so a warning says it.
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aReceiverWarnsOnceThatItsMessagesAreNotClosed(boolean retained) {
        try (Warnings warnings = new Warnings();
                ConnectedPair pair = ConnectedPair.of(options(8, 4).withThreadMode(ThreadMode.SHARED_CQ))) {
            BufferSlice slice = pair.client.allocate("source", 64).slice(0, 8);
            List<Message> kept = new CopyOnWriteArrayList<>();
            if (retained) {
                pair.serverChannel().onMessage((on, message) -> kept.add(message.retain()));
            }
            for (int i = 0; i < 4; i++) {
                pair.clientChannel().blocking(TIMEOUT).send(slice);
                if (!retained) {
                    kept.add(pair.serverChannel().blocking(TIMEOUT).receive());
                }
            }
            ConnectedPair.eventually(() -> !warnings.messages().isEmpty());
            assertThat(warnings.messages())
                    .singleElement()
                    .asString()
                    .contains("data-0 of " + pair.serverEnd.name())
                    .contains("not closed")
                    .contains("4 messages")
                    .contains("close them");
            kept.forEach(Message::close);
        }
    }

    @Test
    void aWriteBehindAMessageWithoutAReceiveSaysSo() {
        try (ConnectedPair pair = ConnectedPair.of(options(8, 1).withThreadMode(ThreadMode.PER_QUEUE_PAIR))) {
            BufferSlice slice = pair.client.allocate("source", 64).slice(0, 8);
            RemoteBuffer remote = pair.target(pair.server.allocate("target", 64));
            RdmaChannel channel = pair.clientChannel();
            channel.blocking(TIMEOUT).send(slice);
            CompletableFuture<?> first = channel.async().send(slice);

            assertThatThrownBy(() -> channel.blocking(Duration.ofMillis(50)).write(slice, remote, 0))
                    .isInstanceOf(DeadlineException.class)
                    .hasMessageContaining("a message queued before it waits, and the peer receives too slowly");
            pair.serverChannel().onMessage((on, message) -> {});
            first.join();
            channel.blocking(TIMEOUT).write(slice, remote, 0);
        }
    }

    @Test
    void aBatchIsAcceptedAsAWholeOrNotAtAll() {
        try (ConnectedPair pair = ConnectedPair.of(options(8, 8))) {
            RdmaBuffer source = pair.client.allocate("source", 64);
            RemoteBuffer remote = pair.target(pair.server.allocate("target", 64));
            ChannelBatch batch = pair.clientChannel().batch(5);
            AtomicLong ended = new AtomicLong();
            CompletionHandler handler = (on, context, status, result) -> ended.incrementAndGet();
            for (int round = 0; round < 2; round++) {
                while (batch.write(source.block(0), remote, 0, handler, 0)) {
                    // Until it is full.
                }
                assertThat(batch.tryPost()).isEqualTo(round == 0 ? Admission.ACCEPTED : Admission.WINDOW_FULL);
            }
            assertThat(batch.size()).isEqualTo(5);
            assertThat(pair.clientChannel().inFlight()).isEqualTo(5);
            pair.until(() -> ended.get() == 5);
            assertThat(batch.tryPost().isAccepted()).isTrue();
            pair.until(() -> ended.get() == 10);
        }
    }

    @Test
    void aBatchNeverHoldsMoreMessagesThanThePeerIsCertainToReceive() {
        try (ConnectedPair pair = ConnectedPair.of(options(64, 16))) {
            BufferSlice slice = pair.client.allocate("source", 64).slice(0, 8);
            AtomicLong received = new AtomicLong();
            pair.serverChannel().onMessage((on, message) -> received.incrementAndGet());
            ChannelBatch batch = pair.clientChannel().batch(64);
            long sent = 0;
            for (int round = 0; round < 200; round++) {
                while (batch.send(slice, CompletionHandler.NONE, 0)) {
                    sent++;
                }
                pair.until(() -> batch.tryPost().isAccepted());
            }
            long all = sent;
            pair.until(() -> received.get() == all);
            assertThat(all).isEqualTo(200 * 13);
        }
    }

    @Test
    void manyThreadsShareOneChannel() throws InterruptedException {
        SessionOptions options = options(16, 16).withThreadMode(ThreadMode.PER_QUEUE_PAIR);
        try (ConnectedPair pair = ConnectedPair.of(options)) {
            RdmaBuffer counters = pair.server.allocate("counters", 8, 8);
            RemoteBuffer remote = pair.target(counters);
            RdmaBuffer source = pair.client.allocate("source", 64);
            AtomicLong received = new AtomicLong();
            pair.serverChannel().onMessage((on, message) -> received.incrementAndGet());
            List<Thread> threads = new ArrayList<>();
            for (int t = 0; t < 8; t++) {
                int mine = t;
                threads.add(Thread.ofVirtual().start(() -> {
                    for (int i = 0; i < 200; i++) {
                        pair.clientChannel().blocking(TIMEOUT).fetchAndAdd(remote, mine * 8L, 1);
                        pair.clientChannel().blocking(TIMEOUT).send(source.slice(0, 8), i);
                    }
                }));
            }
            for (Thread thread : threads) {
                thread.join();
            }
            ConnectedPair.eventually(() -> received.get() == 1600);
            for (int t = 0; t < 8; t++) {
                assertThat(counters.segment().get(JAVA_LONG, t * 8L)).isEqualTo(200);
            }
        }
    }
}
