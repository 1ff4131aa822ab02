package io.rdmacomm.comm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.comm.data.ReceiveBlocks;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/// Who holds the memory of a message, and what becomes of mistakes.
final class MessageTest {
    private final List<Integer> reposted = new ArrayList<>();
    private Message message = Message.in(new Blocks())[0];

    private final class Blocks implements ReceiveBlocks {
        private final MemorySegment memory = MemorySegment.ofArray(new byte[64]);

        @Override
        public int count() {
            return 1;
        }

        @Override
        public MemorySegment block(int receive) {
            return memory;
        }

        @Override
        public void repost(int receive) {
            reposted.add(receive);
        }
    }

    /// The next message arrives in the same memory.
    private Message arrive() {
        message = message.next();
        message.arrived(5, false, true, 7);
        return message;
    }

    private Message handle(Consumer<Message> handler) {
        Message arrived = arrive();
        arrived.handled();
        handler.accept(arrived);
        arrived.endOfHandler();
        return arrived;
    }

    private Message receive() {
        Message arrived = arrive();
        arrived.held();
        return arrived;
    }

    private static void inAnotherThread(Runnable task) {
        FutureTask<Boolean> done = new FutureTask<>(task, true);
        Thread.ofPlatform().daemon().start(done);
        try {
            assertThat(done.get(20, TimeUnit.SECONDS)).isTrue();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private static void assertTooLate(Message message, String why) {
        assertThatThrownBy(message::segment)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining(why);
        assertThatThrownBy(message::tag).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(message::length).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(message::retain)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("retained too late")
                .hasMessageContaining(why);
        assertThat(message).asString().startsWith("closed message");
    }

    @Test
    void handlersGetTheSameObjectAgain() {
        Message first = handle(arrived -> {});
        Message second = handle(arrived -> assertThat(arrived.tag()).isEqualTo(7));

        assertThat(second).isSameAs(first);
        assertThat(reposted).hasSize(2);
    }

    @Test
    void whatWasReceivedIsClosedOnceHoweverOften() {
        Message first = receive();
        first.close();
        first.close();
        Message second = receive();
        first.close();

        assertThat(reposted).hasSize(1);
        assertThat(second).isNotSameAs(first);
        assertThat(second.length()).isEqualTo(5);
        assertTooLate(first, "it was closed before");
        second.close();
        assertThat(reposted).hasSize(2);
    }

    @Test
    void whatWasRetainedIsClosedOnceHoweverOften() {
        Message first = handle(Message::retain);
        assertThat(first.length()).isEqualTo(5);
        assertThat(reposted).isEmpty();
        inAnotherThread(first::close);
        Message second = handle(Message::retain);
        first.close();

        assertThat(reposted).hasSize(1);
        assertThat(second.tag()).isEqualTo(7);
        assertTooLate(first, "it was closed before");
    }

    @Test
    void afterTheHandlerItIsTooLate() {
        Message first = handle(arrived -> {});

        assertTooLate(first, "its handler had returned");
        first.close();
        assertThat(reposted).hasSize(1);
    }

    @Test
    void anotherThreadCannotInterfereWithAHandler() {
        Message kept = handle(arrived -> {});
        handle(arrived -> {
            inAnotherThread(() -> {
                kept.close();
                assertThatThrownBy(kept::retain).isInstanceOf(IllegalStateException.class);
            });
            assertThat(reposted).hasSize(1);
            assertThat(arrived.length()).isEqualTo(5);
        });
        assertThat(reposted).hasSize(2);
    }

    @Test
    void aHandlerThatClosesGivesItBackWhenItReturns() {
        handle(arrived -> {
            arrived.close();
            arrived.close();
            assertThat(reposted).isEmpty();
            assertTooLate(arrived, "it was closed before");
        });
        assertThat(reposted).hasSize(1);
        assertThat(handle(arrived -> {}).next()).isSameAs(message);
    }

    @Test
    void aHandlerMayRetainAndClose() {
        handle(arrived -> {
            arrived.retain().retain().close();
            assertThat(reposted).hasSize(1);
            arrived.close();
        });
        assertThat(reposted).hasSize(1);
    }

    @Test
    void whatIsStoredMayStillGoToAHandler() {
        Message stored = receive();
        stored.handled();
        stored.endOfHandler();

        assertThat(reposted).hasSize(1);
        assertThat(stored.next()).isSameAs(stored);
    }
}
