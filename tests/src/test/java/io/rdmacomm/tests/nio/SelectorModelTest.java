package io.rdmacomm.tests.nio;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.tests.fixture.Amount;
import io.rdmacomm.tests.fixture.Deadline;
import io.rdmacomm.tests.fixture.LeakCheck;
import io.rdmacomm.tests.nio.Sockets.Pair;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Random threads around one selector. It selects without any time-out, so one lost wake-up stops the case.
@ExtendWith(LeakCheck.class)
class SelectorModelTest {
    private static final int PAIRS = 6;
    private static final int WAIT_MILLIS = 30_000;

    /// A connection whose far end sends one byte after the other, each when the one before was answered.
    private static final class Conversation {
        private final Pair pair;
        private final AtomicLong answers = new AtomicLong();
        private volatile @Nullable SelectionKey key;

        Conversation(Pair pair) {
            this.pair = pair;
        }

        /// The near end answers what has arrived; any thread.
        void answer() throws IOException {
            ByteBuffer bytes = ByteBuffer.allocate(16);
            int read = pair.client().read(bytes);
            bytes.flip();
            while (read > 0 && bytes.hasRemaining()) {
                pair.client().write(bytes);
            }
        }

        /// The far end; a thread of its own.
        void talk(int rounds) throws IOException {
            ByteBuffer one = ByteBuffer.allocate(1);
            for (int i = 0; i < rounds; i++) {
                one.clear();
                pair.server().write(one);
                one.clear();
                assertThat(pair.server().read(one)).isEqualTo(1);
                answers.incrementAndGet();
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Sockets.class)
    @Timeout(value = 3, unit = TimeUnit.MINUTES)
    @SuppressWarnings("try") // the selecting thread must notice that the selector is closed
    void everyMessageIsAnswered(Sockets sockets) throws Exception {
        long seed = System.nanoTime();
        int rounds = Amount.of(20_000, 500);
        System.out.println(sockets + ": " + rounds + " rounds, seed " + seed);
        SelectorProvider provider = sockets.provider();
        AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
        List<Conversation> all = new ArrayList<>();
        List<Thread> talking = new ArrayList<>();
        try (Selector selector = provider.openSelector()) {
            for (int i = 0; i < PAIRS; i++) {
                Conversation conversation = new Conversation(Pair.connect(provider));
                conversation.pair.client().configureBlocking(false);
                conversation.key = conversation.pair.client().register(selector, SelectionKey.OP_READ, conversation);
                all.add(conversation);
            }
            Thread selecting = start(failure, () -> {
                try {
                    serve(selector);
                } catch (ClosedSelectorException e) {
                    // Between two selects.
                }
            });
            for (Conversation conversation : all) {
                talking.add(start(failure, () -> conversation.talk(rounds)));
            }
            Thread meddling = start(failure, () -> meddle(selector, all, talking, new Random(seed)));
            for (Thread talker : talking) {
                long last = -1;
                while (!talker.join(Duration.ofMillis(WAIT_MILLIS))) {
                    long now = all.stream().mapToLong(c -> c.answers.get()).sum();
                    assertThat(now).as("answers; they must not stop").isGreaterThan(last);
                    last = now;
                }
            }
            meddling.join();
            assertThat(failure.get()).isNull();
            assertThat(all).allMatch(conversation -> conversation.answers.get() == rounds);
            for (Conversation conversation : all) {
                conversation.pair.close();
            }
            selector.close();
            selecting.join(WAIT_MILLIS);
            assertThat(selecting.isAlive()).isFalse();
        } finally {
            Sockets.close(provider);
        }
        assertThat(failure.get()).isNull();
    }

    private interface Action {
        void run() throws Exception;
    }

    private static Thread start(AtomicReference<@Nullable Throwable> failure, Action action) {
        return Thread.ofPlatform().daemon().start(() -> {
            try {
                action.run();
            } catch (Exception | AssertionError e) {
                failure.compareAndSet(null, e);
            }
        });
    }

    private static void serve(Selector selector) throws IOException {
        while (selector.isOpen()) {
            selector.select(key -> {
                try {
                    if (key.isReadable()) {
                        ((Conversation) key.attachment()).answer();
                    }
                } catch (IOException | CancelledKeyException e) {
                    // The meddler has cancelled it, or the case is over.
                }
            });
        }
    }

    /// Does what programs do to connections that a selector watches.
    private static void meddle(Selector selector, List<Conversation> all, List<Thread> talking, Random random)
            throws IOException {
        while (talking.stream().anyMatch(Thread::isAlive)) {
            Conversation one = all.get(random.nextInt(all.size()));
            SelectionKey key = one.key;
            switch (random.nextInt(6)) {
                case 0 -> selector.wakeup();
                case 1 -> one.answer();
                case 2 -> {
                    // Off, and on again.
                    key.interestOps(0);
                    if (random.nextBoolean()) {
                        Thread.onSpinWait();
                    }
                    key.interestOps(SelectionKey.OP_READ);
                }
                case 3 -> {
                    // What an HTTP server does between two requests.
                    key.cancel();
                    SocketChannel channel = one.pair.client();
                    Deadline.await("the key to leave", () -> {
                        selector.wakeup();
                        return channel.keyFor(selector) == null;
                    });
                    one.key = channel.register(selector, SelectionKey.OP_READ, one);
                    selector.wakeup();
                }
                case 4 -> key.interestOpsOr(SelectionKey.OP_WRITE);
                default -> key.interestOpsAnd(SelectionKey.OP_READ);
            }
            selector.wakeup();
        }
    }
}
