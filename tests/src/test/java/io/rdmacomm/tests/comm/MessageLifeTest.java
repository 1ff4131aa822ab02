package io.rdmacomm.tests.comm;

import static io.rdmacomm.tests.comm.ConnectedPair.TIMEOUT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.comm.BlockingChannel;
import io.rdmacomm.comm.BufferSlice;
import io.rdmacomm.comm.ChannelBatch;
import io.rdmacomm.comm.ChannelOptions;
import io.rdmacomm.comm.CompletionHandler;
import io.rdmacomm.comm.Message;
import io.rdmacomm.comm.MovableSlice;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.SharedReceives;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// With one receive, each message is in the memory of the one before: mistakes with the one before must not
/// reach it.
final class MessageLifeTest {
    private static final SessionOptions OPTIONS =
            SessionOptions.defaults().withChannel(ChannelOptions.defaults().withReceives(1));

    enum Form {
        BLOCKING(channel -> channel.blocking(TIMEOUT).receive()),
        FUTURE(channel ->
                channel.async().receive().orTimeout(20, TimeUnit.SECONDS).join()),
        TRY(Form::poll),
        SHARED(channel -> channel.blocking(TIMEOUT).receive());

        @SuppressWarnings("ImmutableEnumChecker") // the functions have no state
        private final Function<RdmaChannel, Message> receive;

        Form(Function<RdmaChannel, Message> receive) {
            this.receive = receive;
        }

        private static Message poll(RdmaChannel channel) {
            Message[] message = new Message[1];
            ConnectedPair.eventually(() -> {
                message[0] = channel.tryReceive();
                return message[0] != null;
            });
            return message[0];
        }
    }

    private static SessionOptions server(Form form) {
        return form == Form.SHARED ? OPTIONS.withSharedReceives(SharedReceives.of(1, 1)) : OPTIONS;
    }

    private static void send(ConnectedPair pair, String text) {
        BufferSlice memory = pair.client.allocate(64, 1).block(0);
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        memory.segment().asByteBuffer().put(bytes);
        pair.clientChannel().blocking(TIMEOUT).send(memory.slice(0, bytes.length));
    }

    @ParameterizedTest
    @EnumSource
    void closingTwiceGivesAwayNoOtherMessage(Form form) {
        try (ConnectedPair pair = new ConnectedPair(server(form), OPTIONS)) {
            send(pair, "first");
            Message first = form.receive.apply(pair.serverChannel());
            first.close();
            send(pair, "second");
            Message second = form.receive.apply(pair.serverChannel());
            first.close();

            assertThat(second.text()).isEqualTo("second");
            assertThatThrownBy(first::text)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("it was closed before");
            BufferSlice more = pair.client.allocate(64, 1).block(0);
            assertThatThrownBy(() ->
                            pair.clientChannel().blocking(Duration.ofMillis(50)).send(more))
                    .as("there is no receive for a third message")
                    .hasMessageContaining("the peer receives too slowly");
            second.close();
            send(pair, "third");
            try (Message third = form.receive.apply(pair.serverChannel())) {
                assertThat(third.text()).isEqualTo("third");
            }
        }
    }

    @Test
    void whatWasRetainedIsSafeFromTheOneBefore() throws InterruptedException {
        try (ConnectedPair pair = new ConnectedPair(OPTIONS, OPTIONS)) {
            BlockingQueue<Message> retained = new LinkedBlockingQueue<>();
            pair.serverChannel().onMessage((on, message) -> retained.add(message.retain()));
            send(pair, "first");
            Message first = take(retained);
            first.close();
            send(pair, "second");
            Message second = take(retained);
            first.close();

            assertThat(second.text()).isEqualTo("second");
            second.close();
            send(pair, "third");
            assertThat(take(retained).text()).isEqualTo("third");
        }
    }

    @Test
    void retainingTooLateThrows() throws InterruptedException {
        try (ConnectedPair pair = new ConnectedPair(OPTIONS, OPTIONS)) {
            BlockingQueue<Message> kept = new LinkedBlockingQueue<>();
            pair.serverChannel().onMessage((on, message) -> kept.add(message));
            send(pair, "first");
            Message first = take(kept);
            pair.serverChannel().onMessage(null);
            // A second message can arrive only after the handler has returned.
            send(pair, "second");

            try (Message second = pair.serverChannel().blocking(TIMEOUT).receive()) {
                assertThat(second.text()).isEqualTo("second");
            }
            assertThatThrownBy(first::retain)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("retained too late");
        }
    }

    private static Message take(BlockingQueue<Message> from) throws InterruptedException {
        Message message = from.poll(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
        assertThat(message).isNotNull();
        return message;
    }

    @Test
    void aMovableSliceSendsPartsOfItsMemory() {
        try (ConnectedPair pair = new ConnectedPair(SessionOptions.defaults(), SessionOptions.defaults())) {
            MovableSlice memory = pair.client.allocate(64, 2).block(1).movable();
            memory.segment().asByteBuffer().put("0123456789".getBytes(StandardCharsets.UTF_8));
            RdmaChannel channel = pair.clientChannel();
            BlockingChannel receiver = pair.serverChannel().blocking(TIMEOUT);

            assertThat(channel.trySend(memory.at(2, 3), CompletionHandler.NONE, 0)
                            .isAccepted())
                    .isTrue();
            assertThat(channel.trySend(memory.at(9, 1), 5, CompletionHandler.NONE, 0)
                            .isAccepted())
                    .isTrue();
            try (Message part = receiver.receive();
                    Message tagged = receiver.receive()) {
                assertThat(part.text()).isEqualTo("234");
                assertThat(part.hasTag()).isFalse();
                assertThat(tagged.text()).isEqualTo("9");
                assertThat(tagged.tag()).isEqualTo(5);
            }
            assertThatThrownBy(() -> memory.at(60, 5)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> memory.at(-1, 5)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThat(memory.offset()).isEqualTo(64 + 9);
            assertThat(memory.length()).isEqualTo(1);
        }
    }

    @Test
    void anOperationKeepsTheRangeThatAMovableSliceHadAtItsCall() {
        try (ConnectedPair pair = new ConnectedPair(SessionOptions.defaults(), SessionOptions.defaults())) {
            MovableSlice memory = pair.client.allocate("movable", 64).whole().movable();
            memory.segment().asByteBuffer().put("0123456789".getBytes(StandardCharsets.UTF_8));
            BlockingChannel receiver = pair.serverChannel().blocking(TIMEOUT);

            ChannelBatch batch = pair.clientChannel().batch(2);
            batch.send(memory.at(0, 2), CompletionHandler.NONE, 0);
            batch.send(memory.at(4, 3), CompletionHandler.NONE, 0);
            BufferSlice fixed = memory.slice(1, 1);
            memory.at(63, 1);

            assertThat(fixed.offset()).isEqualTo(5);
            assertThat(batch.tryPost().isAccepted()).isTrue();
            try (Message first = receiver.receive();
                    Message second = receiver.receive()) {
                assertThat(first.text()).isEqualTo("01");
                assertThat(second.text()).isEqualTo("456");
            }
        }
    }
}
