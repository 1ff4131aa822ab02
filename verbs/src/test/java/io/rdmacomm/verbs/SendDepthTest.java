package io.rdmacomm.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SendDepthTest {
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 7, 8, 127, 128, 1000})
    void hasExactlyTheGivenSlots(int size) {
        SendDepth depth = new SendDepth(size);
        for (int left = size; left > 0; left--) {
            assertThat(depth.room()).isEqualTo(left);
            depth.take(true);
        }
        assertThat(depth.room()).isZero();
        for (int free = 1; free <= size; free++) {
            depth.retire();
            assertThat(depth.room()).isEqualTo(free);
        }
    }

    @Test
    void aQueueWithoutSlotsHasNoRoom() {
        assertThat(new SendDepth(0).room()).isZero();
    }

    @Test
    void aSignaledCompletionFreesEarlierUnsignaledRequests() {
        SendDepth depth = new SendDepth(8);
        depth.take(false);
        depth.take(false);
        depth.take(true);
        depth.take(false);
        assertThat(depth.room()).isEqualTo(4);

        depth.retire();

        assertThat(depth.room()).isEqualTo(7);
    }

    @Test
    void withoutASignalNoSlotIsFreed() {
        SendDepth depth = new SendDepth(2);
        depth.take(false);
        depth.take(false);

        assertThat(depth.room()).isZero();
    }

    @Test
    void slotsOfRequestsNotPostedAreFreed() {
        SendDepth depth = new SendDepth(4);
        depth.take(true);
        depth.take(false);
        depth.take(true);
        depth.untake(2, 1);

        assertThat(depth.room()).isEqualTo(3);
        depth.retire();
        assertThat(depth.room()).isEqualTo(4);
    }

    @Test
    void isEmptyAfterAReset() {
        SendDepth depth = new SendDepth(4);
        depth.take(true);
        depth.take(true);
        depth.retire();
        depth.clear();

        assertThat(depth.room()).isEqualTo(4);
    }

    @Test
    void aCompletionFromBeforeAResetFreesNothing() {
        SendDepth depth = new SendDepth(4);
        depth.take(true);
        depth.take(true);
        depth.take(true);
        depth.clear();

        depth.retire();

        assertThat(depth.room()).isEqualTo(4);
        depth.take(true);
        assertThat(depth.room()).isEqualTo(3);
        depth.retire();
        assertThat(depth.room()).isEqualTo(4);
    }

    @Test
    void agreesWithAModelOverManyRandomSteps() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int round = 0; round < 50; round++) {
            int size = 1 + random.nextInt(20);
            SendDepth depth = new SendDepth(size);
            // How many slots each outstanding signal frees.
            Deque<Integer> signals = new ArrayDeque<>();
            int used = 0;
            int silent = 0;
            for (int step = 0; step < 500; step++) {
                if (used < size && random.nextInt(3) > 0) {
                    boolean signaled = random.nextInt(3) == 0 || used == size - 1;
                    depth.take(signaled);
                    used++;
                    silent++;
                    if (signaled) {
                        signals.add(silent);
                        silent = 0;
                    }
                } else if (!signals.isEmpty()) {
                    depth.retire();
                    used -= signals.remove();
                }
                assertThat(depth.room()).as("seed %d", seed).isEqualTo(size - used);
            }
        }
    }

    @Test
    void onePosterAndOnePollerNeverOverrunTheQueue() throws Exception {
        int size = 16;
        int total = 200_000;
        SendDepth depth = new SendDepth(size);
        AtomicInteger posted = new AtomicInteger();
        AtomicInteger completed = new AtomicInteger();
        Thread poller = Thread.ofPlatform().start(() -> {
            while (completed.get() < total) {
                if (completed.get() < posted.get()) {
                    completed.incrementAndGet();
                    depth.retire();
                } else {
                    Thread.onSpinWait();
                }
            }
        });
        int sent = 0;
        while (sent < total) {
            if (depth.room() > 0) {
                depth.take(true);
                sent++;
                posted.set(sent);
                int outstanding = sent - completed.get();
                if (outstanding > size) {
                    throw new AssertionError(outstanding + " requests in a queue of " + size);
                }
            } else {
                Thread.onSpinWait();
            }
        }
        poller.join(30_000);
        assertThat(poller.isAlive()).isFalse();
        assertThat(depth.room()).isEqualTo(size);
    }
}
