package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.CompletionChannel;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Device;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.ReceiveBatch;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.WorkStatus;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// Requests and answers over TCP between ends that sleep. The acknowledgement of a request travels with the answer: on
/// its own it would wake the requester once more.
class DialogueTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    /// Much longer than an acknowledgement travels, and shorter than it waits for an answer, which is 2 ms.
    private static final long GLANCE_NANOS = 1_000_000;

    private static final int ROUNDS = 100;

    private final Device device = Soft.device("talk=127.0.0.1?sharedMemory=false");
    private final Arena arena = Arena.ofShared();
    private final Context hereContext = device.open();
    private final Context thereContext = device.open();
    private final End here = new End(hereContext);
    private final End there = new End(thereContext);

    /// A queue pair, and a thread's way to sleep until something has ended.
    private final class End {
        private final ProtectionDomain domain;
        private final CompletionChannel channel;
        private final CompletionQueue sends;
        private final CompletionQueue receives;
        private final QueuePair pair;
        private final MemoryRegion memory;
        private final Completions completions = Completions.create(arena, 1);
        private volatile Thread sleeper;

        End(Context context) {
            domain = context.allocateProtectionDomain();
            channel = context.createCompletionChannel();
            sends = context.createCompletionQueue(CompletionQueueOptions.ofCapacity(8));
            receives = context.createCompletionQueue(
                    CompletionQueueOptions.ofCapacity(8).withChannel(channel));
            pair = domain.createQueuePair(QueuePairOptions.reliable(sends).withReceiveCompletions(receives));
            memory = domain.allocate(16, AccessFlag.allRemote());
        }

        void receive() {
            receives.arm();
            postReceive();
        }

        void postReceive() {
            assertThat(pair.post(ReceiveBatch.create(arena, 1, 1).receive(1).with(memory, 0, 8)))
                    .isEqualTo(1);
        }

        void send() {
            assertThat(pair.post(SendBatch.create(arena, 1, 1)
                            .send(2)
                            .with(memory, 8, 8)
                            .signaled()))
                    .isEqualTo(1);
        }

        void awaitMessage() throws InterruptedException {
            assertThat(channel.awaitEvent(TIMEOUT)).isSameAs(receives);
            receives.acknowledge(1);
            assertThat(receives.poll(completions)).isEqualTo(1);
            assertThat(completions.status(0)).isEqualTo(WorkStatus.SUCCESS);
        }

        /// As a thread does that polls before it sleeps.
        void sleepForMessage() throws InterruptedException {
            int count = receives.poll(completions);
            while (count == 0) {
                receives.arm();
                count = receives.poll(completions);
                if (count == 0) {
                    sleeper = Thread.currentThread();
                    assertThat(channel.awaitEvent(TIMEOUT)).isSameAs(receives);
                    sleeper = null;
                    receives.acknowledge(1);
                    count = receives.poll(completions);
                }
            }
            assertThat(completions.status(0)).isEqualTo(WorkStatus.SUCCESS);
        }

        /// Waits until the thread of this end sleeps at its sockets.
        void awaitSleep() {
            long deadline = System.nanoTime() + TIMEOUT.toNanos();
            while (!isAsleep()) {
                assertThat(System.nanoTime()).isLessThan(deadline);
                Thread.onSpinWait();
            }
        }

        private boolean isAsleep() {
            Thread thread = sleeper;
            return thread != null
                    && Arrays.stream(thread.getStackTrace())
                            .anyMatch(frame -> frame.getClassName().equals("sun.nio.ch.EPoll"));
        }

        void awaitSent() {
            assertThat(isSentWithin(TIMEOUT.toNanos())).isTrue();
            assertThat(completions.status(0)).isEqualTo(WorkStatus.SUCCESS);
        }

        boolean isSentWithin(long nanos) {
            long deadline = System.nanoTime() + nanos;
            while (sends.poll(completions) == 0) {
                if (System.nanoTime() - deadline > 0) {
                    return false;
                }
            }
            return true;
        }
    }

    private void connect() {
        here.pair.connect(there.pair.info(), ConnectionOptions.defaults());
        there.pair.connect(here.pair.info(), ConnectionOptions.defaults());
    }

    @AfterEach
    void close() {
        hereContext.close();
        thereContext.close();
        arena.close();
    }

    @Test
    void anAcknowledgementWaitsForTheAnswer() throws Exception {
        connect();
        // The first request waits for the connection.
        endsBeforeTheAnswer();
        int early = 0;
        for (int i = 0; i < ROUNDS; i++) {
            early += endsBeforeTheAnswer() ? 1 : 0;
        }
        // On a busy machine an answer may be late now and then.
        assertThat(early).as("requests that ended before their answer").isLessThan(ROUNDS / 2);
    }

    private boolean endsBeforeTheAnswer() throws InterruptedException {
        there.receive();
        here.receive();
        here.send();
        there.awaitMessage();
        boolean early = here.isSentWithin(GLANCE_NANOS);
        there.send();
        here.awaitMessage();
        if (!early) {
            here.awaitSent();
        }
        there.awaitSent();
        return early;
    }

    /// A read that finds nothing would be in vain: the thread sleeps at the socket next, and sees there what has
    /// arrived.
    @Test
    void aMessageForAThreadThatSleepsTakesOneRead() throws Exception {
        connect();
        endsBeforeTheAnswer();
        there.postReceive();
        FutureTask<Void> answering = new FutureTask<>(this::answerLate);
        Thread.ofPlatform().daemon().start(answering);

        long before = readsOfThisThread();
        for (int i = 0; i < ROUNDS; i++) {
            here.postReceive();
            here.send();
            here.sleepForMessage();
            here.awaitSent();
        }
        long reads = readsOfThisThread() - before;

        answering.get(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
        assertThat(reads).as("reads for %d messages", ROUNDS).isLessThan(ROUNDS * 3 / 2);
    }

    /// Answers when the requester sleeps.
    private Void answerLate() throws Exception {
        for (int i = 0; i < ROUNDS; i++) {
            there.sleepForMessage();
            there.postReceive();
            here.awaitSleep();
            there.send();
            there.awaitSent();
        }
        return null;
    }

    private static long readsOfThisThread() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/thread-self/io"))) {
            if (line.startsWith("syscr: ")) {
                return Long.parseLong(line.substring("syscr: ".length()));
            }
        }
        throw new AssertionError("the system does not count reads");
    }

    @Test
    void aSendEndsAlthoughTheReceiverIsSilent() throws Exception {
        connect();
        there.receive();
        here.send();
        there.awaitMessage();
        here.awaitSent();
    }
}
