package io.rdmacomm.tests.comm;

import static io.rdmacomm.tests.comm.ConnectedPair.TIMEOUT;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.comm.AsyncChannel;
import io.rdmacomm.comm.BlockingChannel;
import io.rdmacomm.comm.ChannelOptions;
import io.rdmacomm.comm.ClosedException;
import io.rdmacomm.comm.Message;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.ThreadMode;
import io.rdmacomm.comm.WorkMode;
import io.rdmacomm.verbs.DeadlineException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Messages that a program sends without a buffer of its own.
final class CopiedSendTest {
    private static final int LONGEST = 16 << 10;

    private static byte[] bytes(int length, int first) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) (first + i * 7);
        }
        return bytes;
    }

    private static void assertNext(BlockingChannel receiver, byte[] expected) {
        try (Message message = receiver.receive()) {
            assertThat(message.length()).isEqualTo(expected.length);
            assertThat(message.segment().mismatch(MemorySegment.ofArray(expected)))
                    .isEqualTo(-1);
        }
    }

    @ParameterizedTest
    @EnumSource(ThreadMode.class)
    void bytesArriveWhateverTheirLength(ThreadMode threads) {
        try (ConnectedPair pair = ConnectedPair.of(
                SessionOptions.defaults().withThreadMode(threads).withWorkMode(WorkMode.ADAPTIVE))) {
            BlockingChannel sender = pair.clientChannel().blocking(TIMEOUT);
            BlockingChannel receiver = pair.serverChannel().blocking(TIMEOUT);

            for (int length : new int[] {0, 1, 64, 65, 4096, LONGEST}) {
                sender.send(bytes(length, length), length);
                try (Message message = receiver.receive()) {
                    assertThat(message.tag()).isEqualTo(length);
                    assertThat(message.segment().mismatch(MemorySegment.ofArray(bytes(length, length))))
                            .isEqualTo(-1);
                }
            }
        }
    }

    @Test
    void aSegmentOfAConfinedArenaCanBeClosedAtOnce() {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            List<CompletableFuture<@Nullable Void>> sent = new ArrayList<>();
            for (int i = 0; i < 200; i++) {
                try (Arena arena = Arena.ofConfined()) {
                    MemorySegment text = arena.allocateFrom("message " + i, UTF_8);
                    sent.add(pair.clientChannel().async(TIMEOUT).send(text, i));
                    text.fill((byte) 'x');
                }
            }
            BlockingChannel receiver = pair.serverChannel().blocking(TIMEOUT);
            for (int i = 0; i < 200; i++) {
                try (Message message = receiver.receive()) {
                    assertThat(message.tag()).isEqualTo(i);
                    assertThat(message.segment().getString(0)).isEqualTo("message " + i);
                }
            }
            sent.forEach(CompletableFuture::join);
        }
    }

    @Test
    void moreCopiesThanThereIsMemoryForWaitTheirTurn() {
        try (ConnectedPair pair = ConnectedPair.of(SessionOptions.defaults().withThreadMode(ThreadMode.CALLER))) {
            AsyncChannel sender = pair.clientChannel().async(TIMEOUT);
            byte[] reused = new byte[LONGEST];
            List<CompletableFuture<@Nullable Void>> sent = new ArrayList<>();
            // Nobody polls, so that none of them ends.
            for (int i = 0; i < 40; i++) {
                Arrays.fill(reused, (byte) i);
                sent.add(sender.send(reused));
            }
            assertThat(pair.clientChannel().inFlight()).isEqualTo(16);

            Thread receiving = Thread.ofPlatform().start(() -> {
                BlockingChannel receiver = pair.serverChannel().blocking(TIMEOUT);
                for (int i = 0; i < 40; i++) {
                    byte[] expected = new byte[LONGEST];
                    Arrays.fill(expected, (byte) i);
                    assertNext(receiver, expected);
                }
            });
            pair.until(() -> sent.stream().allMatch(CompletableFuture::isDone));

            sent.forEach(CompletableFuture::join);
            assertThat(joined(receiving)).isTrue();
        }
    }

    private static boolean joined(Thread thread) {
        try {
            return thread.join(TIMEOUT);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void aCopyThatWaitsTooLongLeavesItsPlaceToTheNext() {
        ChannelOptions one = ChannelOptions.defaults().withReceives(1);
        try (ConnectedPair pair = ConnectedPair.of(SessionOptions.defaults().withChannel(one))) {
            BlockingChannel patient = pair.clientChannel().blocking(TIMEOUT);
            BlockingChannel impatient = pair.clientChannel().blocking(Duration.ofMillis(50));
            BlockingChannel receiver = pair.serverChannel().blocking(TIMEOUT);
            patient.send(bytes(100, 0));
            Message unclosed = receiver.receive();
            for (int i = 0; i < 40; i++) {
                assertThatThrownBy(() -> impatient.send(bytes(100, 1)))
                        .isInstanceOf(DeadlineException.class)
                        .hasMessageContaining("the peer receives too slowly");
            }
            unclosed.close();

            for (int i = 0; i < 40; i++) {
                patient.send(bytes(100, i));
                assertNext(receiver, bytes(100, i));
            }
        }
    }

    @Test
    void aFullMemoryForCopiesIsNamedWhenTheTimeIsUp() {
        try (ConnectedPair pair = ConnectedPair.of(SessionOptions.defaults().withThreadMode(ThreadMode.CALLER))) {
            AsyncChannel sender = pair.clientChannel().async(TIMEOUT);
            for (int i = 0; i < 16; i++) {
                var _ = sender.send(new byte[1]);
            }
            CompletableFuture<@Nullable Void> late =
                    pair.clientChannel().async(Duration.ofMillis(1)).send(new byte[1]);
            ConnectedPair.eventually(() -> pair.clientChannel().inFlight() == 16);

            assertThat(late).isNotDone();
            long later = System.nanoTime() + 2_000_000;
            ConnectedPair.eventually(() -> System.nanoTime() > later);
            pair.until(late::isDone);

            assertThat(late).isCompletedExceptionally();
            assertThatThrownBy(late::join)
                    .hasCauseInstanceOf(DeadlineException.class)
                    .hasMessageContaining("the memory for copied messages is full");
        }
    }

    @Test
    void aMessageThatIsTooLongIsRejected() {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            assertThatThrownBy(() -> pair.clientChannel().blocking().send(new byte[LONGEST + 1]))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("16385 bytes is longer");
        }
    }

    @Test
    void aClosedChannelSendsNothing() {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            BlockingChannel before = pair.clientChannel().blocking();
            pair.clientEnd.close();

            assertThatThrownBy(() -> before.send(new byte[1])).isInstanceOf(ClosedException.class);
        }
    }
}
