package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.verbs.CompletionChannel;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Device;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.RdmaInterruptedException;
import io.rdmacomm.verbs.ReceiveBatch;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.WaitGroup;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Threads that sleep until a peer on this host rings. A lost wake-up would cost them a second each time
/// ([Bells]), so tests that wake them [#OFTEN] end at their timeout then.
@Timeout(value = SleepAtBellTest.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SleepAtBellTest {
    static final int SECONDS = 60;
    private static final Duration TIMEOUT = Duration.ofSeconds(SECONDS);
    private static final int OFTEN = 4 * SECONDS;
    private static final int QUEUE_ARMED = 64;

    private final Arena arena = Arena.ofShared();
    private final Device device = Soft.device("soft1=127.0.0.1");
    private Context here;
    private Context there;
    private Peer peer;

    /// A queue pair of `here`, whose completion queue has a channel, and its peer.
    private final class Peer {
        final CompletionChannel channel = here.createCompletionChannel();
        final CompletionQueue queue =
                here.createCompletionQueue(CompletionQueueOptions.ofCapacity(64).withChannel(channel));
        final CompletionQueue theirs = there.createCompletionQueue(CompletionQueueOptions.ofCapacity(64));
        final QueuePair end = here.allocateProtectionDomain().createQueuePair(QueuePairOptions.reliable(queue));
        final QueuePair sender = there.allocateProtectionDomain().createQueuePair(QueuePairOptions.reliable(theirs));
        final ReceiveBatch receive = ReceiveBatch.create(arena, 1, 1);
        final SendBatch send = SendBatch.create(arena, 1, 1);
        final Completions completions = Completions.create(arena, 16);

        Peer() {
            end.connect(sender.info(), ConnectionOptions.defaults());
            sender.connect(end.info(), ConnectionOptions.defaults());
        }

        void arm() {
            end.post(receive.clear().receive(1));
            queue.arm();
        }

        void send() {
            sender.post(send.clear().send(1).signaled());
            assertThat(theirs.poll(completions)).isEqualTo(1);
        }

        void take(CompletionQueue event) {
            assertThat(event).isEqualTo(queue);
            queue.acknowledge(1);
            assertThat(queue.poll(completions)).isEqualTo(1);
        }
    }

    @BeforeEach
    void connect() {
        here = device.open();
        there = device.open();
        peer = new Peer();
    }

    @AfterEach
    void close() {
        here.close();
        there.close();
        arena.close();
    }

    /// Sends after a pause in which the waiter may have fallen asleep, or be on its way.
    private void sendSoon(Peer to) {
        LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(200_000));
        to.send();
    }

    /// Runs `action` often, each time when the waiter has armed.
    private Thread often(boolean virtual, AtomicInteger armed, Runnable action) {
        Thread.Builder builder =
                virtual ? Thread.ofVirtual() : Thread.ofPlatform().daemon();
        return builder.start(() -> {
            for (int i = 1; i <= OFTEN; i++) {
                while (armed.get() < i) {
                    Thread.onSpinWait();
                }
                action.run();
            }
        });
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aMessageWakesAThreadThatWaitsAtAChannel(boolean virtual) throws Exception {
        AtomicInteger armed = new AtomicInteger();
        AtomicReference<Throwable> failure = new AtomicReference<>();
        Thread waiter = (virtual ? Thread.ofVirtual() : Thread.ofPlatform().daemon()).start(() -> {
            try {
                for (int i = 0; i < OFTEN; i++) {
                    peer.arm();
                    armed.incrementAndGet();
                    peer.take(peer.channel.awaitEvent(TIMEOUT));
                }
            } catch (Throwable e) {
                failure.set(e);
            }
        });
        often(false, armed, () -> sendSoon(peer)).join();
        waiter.join();
        assertThat(failure).hasValue(null);
    }

    /// More queues than a bell has bits.
    @Test
    void aMessageWakesAThreadThatWaitsForAGroup() throws Exception {
        List<Peer> peers = new ArrayList<>();
        WaitGroup group = WaitGroup.create(here);
        for (int i = 0; i < 70; i++) {
            Peer member = new Peer();
            group.add(member.channel);
            peers.add(member);
        }
        AtomicInteger armed = new AtomicInteger();
        Thread sender = often(false, armed, () -> sendSoon(peers.get(armed.get() % peers.size())));
        for (int i = 1; i <= OFTEN; i++) {
            Peer next = peers.get(i % peers.size());
            next.arm();
            armed.set(i);
            assertThat(group.await(TIMEOUT)).isEqualTo(next.channel);
            next.take(next.channel.awaitEvent(Duration.ZERO));
        }
        sender.join();
    }

    /// Each of them may be the one whose event it is.
    @Test
    void threadsWaitAtTheChannelAndForItsGroup() throws Exception {
        WaitGroup group = WaitGroup.create(here);
        group.add(peer.channel);
        AtomicInteger armed = new AtomicInteger();
        AtomicInteger taken = new AtomicInteger();
        peer.arm();
        armed.incrementAndGet();
        Runnable take = () -> {
            CompletionQueue event = peer.channel.awaitEvent(Duration.ofMillis(200));
            if (event != null) {
                peer.take(event);
                taken.incrementAndGet();
                peer.arm();
                armed.incrementAndGet();
            }
        };
        Thread atChannel = Thread.ofPlatform().daemon().start(() -> {
            while (taken.get() < OFTEN) {
                take.run();
            }
        });
        Thread inGroup = Thread.ofVirtual().start(() -> {
            while (taken.get() < OFTEN) {
                if (group.await(Duration.ofMillis(200)) != null) {
                    LockSupport.parkNanos(10_000);
                }
            }
        });
        often(false, armed, () -> sendSoon(peer)).join();
        atChannel.join();
        inGroup.join();
        assertThat(taken).hasValue(OFTEN);
    }

    @Test
    void anInterruptEndsTheSleep() throws Exception {
        AtomicInteger begun = new AtomicInteger();
        AtomicInteger interrupted = new AtomicInteger();
        Thread waiter = Thread.ofPlatform().daemon().start(() -> {
            for (int i = 0; i < OFTEN; i++) {
                begun.incrementAndGet();
                try {
                    peer.channel.awaitEvent(TIMEOUT);
                } catch (RuntimeException e) {
                    assertThat(Thread.interrupted()).isTrue();
                    interrupted.incrementAndGet();
                }
            }
        });
        for (int i = 1; i <= OFTEN; i++) {
            while (begun.get() < i) {
                Thread.onSpinWait();
            }
            LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(200_000));
            waiter.interrupt();
            while (interrupted.get() < i) {
                Thread.onSpinWait();
            }
        }
        waiter.join();
        // The interrupts have closed nothing.
        peer.arm();
        peer.send();
        peer.take(peer.channel.awaitEvent(TIMEOUT));
    }

    /// The thread that was woken for an event may be interrupted before it takes the event.
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void anInterruptLeavesTheEventToOthers(boolean virtual) throws Exception {
        for (int i = 0; i < OFTEN; i++) {
            peer.arm();
            CountDownLatch taken = new CountDownLatch(1);
            Runnable wait = () -> {
                try {
                    if (peer.channel.awaitEvent(TIMEOUT) != null) {
                        taken.countDown();
                    }
                } catch (RdmaInterruptedException e) {
                    // The other one takes it.
                }
            };
            Thread first = (virtual ? Thread.ofVirtual() : Thread.ofPlatform().daemon()).start(wait);
            Thread second = (virtual ? Thread.ofVirtual() : Thread.ofPlatform().daemon()).start(wait);
            LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(1_000_000));
            peer.send();
            first.interrupt();
            assertThat(taken.await(SECONDS, TimeUnit.SECONDS)).isTrue();
            peer.queue.acknowledge(1);
            assertThat(peer.queue.poll(peer.completions)).isEqualTo(1);
            while (first.isAlive() || second.isAlive()) {
                peer.channel.wakeUp();
                LockSupport.parkNanos(100_000);
            }
            peer.channel.wakeUp();
            assertThat(peer.channel.awaitEvent(Duration.ZERO)).isNull();
        }
    }

    @Test
    void aWakeUpEndsTheSleep() throws Exception {
        WaitGroup group = WaitGroup.create(here);
        group.add(peer.channel);
        AtomicInteger begun = new AtomicInteger();
        Thread waker = often(false, begun, () -> {
            LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(200_000));
            group.wakeUp();
        });
        for (int i = 0; i < OFTEN; i++) {
            begun.incrementAndGet();
            assertThat(group.await(TIMEOUT)).isNull();
        }
        waker.join();
    }

    @Test
    void aCloseEndsTheSleep() throws Exception {
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        CompletionChannel channel = here.createCompletionChannel();
        Thread waiter = Thread.ofPlatform().daemon().start(() -> {
            try {
                channel.awaitEvent(TIMEOUT);
            } catch (RuntimeException e) {
                thrown.set(e);
            }
        });
        LockSupport.parkNanos(50_000_000);
        channel.close();
        waiter.join();
        assertThat(thrown.get()).isInstanceOf(IllegalStateException.class);
    }

    /// The completion queue may be armed again before anybody has looked.
    @Test
    void anEventIsNotLostIfTheQueueIsArmedAgain() {
        peer.arm();
        peer.send();
        peer.queue.arm();
        peer.take(peer.channel.awaitEvent(TIMEOUT));
    }

    @Test
    void aChannelChangesItsGroupWhileItIsArmed() throws Exception {
        for (int i = 0; i < OFTEN; i++) {
            try (WaitGroup group = WaitGroup.create(here)) {
                peer.arm();
                group.add(peer.channel);
                Thread sender = Thread.ofPlatform().daemon().start(() -> sendSoon(peer));
                // Joining may have given an event without a completion.
                while (peer.queue.poll(peer.completions) == 0) {
                    peer.queue.arm();
                    if (peer.queue.poll(peer.completions) == 1) {
                        break;
                    }
                    assertThat(group.await(TIMEOUT)).isEqualTo(peer.channel);
                    assertThat(peer.channel.awaitEvent(Duration.ZERO)).isEqualTo(peer.queue);
                    peer.queue.acknowledge(1);
                }
                sender.join();
                if (i % 2 == 0) {
                    group.remove(peer.channel);
                }
                while (peer.channel.awaitEvent(Duration.ZERO) != null) {
                    peer.queue.acknowledge(1);
                }
            }
        }
    }

    @Test
    void aChannelInTwoGroupsTellsBoth() {
        WaitGroup first = WaitGroup.create(here);
        WaitGroup second = WaitGroup.create(here);
        first.add(peer.channel);
        second.add(peer.channel);
        peer.arm();
        sendSoon(peer);
        assertThat(first.await(TIMEOUT)).isEqualTo(peer.channel);
        assertThat(second.await(TIMEOUT)).isEqualTo(peer.channel);
        peer.take(peer.channel.awaitEvent(Duration.ZERO));
    }

    /// A process of the same user can write to the control file: that costs a second, not the event.
    @Test
    void aBellThatDoesNotRingCostsASecond() {
        try (ForeignHand hand = new ForeignHand(here)) {
            long queue = hand.completions(peer.end);
            peer.arm();
            hand.set(queue + QUEUE_ARMED, 0);
            peer.send();
            peer.take(peer.channel.awaitEvent(TIMEOUT));

            peer.arm();
            hand.set(queue + QUEUE_ARMED, -1);
            peer.send();
            hand.set(queue + QUEUE_ARMED, 0);
            peer.take(peer.channel.awaitEvent(TIMEOUT));
        }
    }

    /// As a process that keeps writing to the bell and to the words that name it.
    @Test
    void aHostileProcessHoldsNobodyUp() throws Exception {
        try (ForeignHand hand = new ForeignHand(here)) {
            long queue = hand.completions(peer.end);
            long seed = System.nanoTime();
            Thread hostile = Thread.ofPlatform().daemon().start(() -> {
                Random random = new Random(seed);
                while (!Thread.interrupted()) {
                    long bell = hand.get(queue + QUEUE_ARMED) >>> 8;
                    if (bell != 0 && random.nextBoolean()) {
                        hand.setInt(bell, random.nextInt());
                        hand.set(bell + 8, random.nextLong());
                    } else {
                        hand.set(queue + QUEUE_ARMED, random.nextInt(3));
                    }
                    LockSupport.parkNanos(1_000);
                }
            });
            for (int i = 0; i < 5; i++) {
                peer.arm();
                Thread sender = Thread.ofPlatform().daemon().start(() -> sendSoon(peer));
                int found = peer.queue.poll(peer.completions);
                while (found == 0) {
                    peer.queue.arm();
                    found = peer.queue.poll(peer.completions);
                    if (found == 0 && peer.channel.awaitEvent(Duration.ofSeconds(2)) != null) {
                        peer.queue.acknowledge(1);
                    }
                }
                assertThat(found).as("seed %d", seed).isEqualTo(1);
                sender.join();
            }
            hostile.interrupt();
            hostile.join();
        }
        while (peer.channel.awaitEvent(Duration.ZERO) != null) {
            peer.queue.acknowledge(1);
        }
    }

    @Test
    void aBellIsUsedAgain() {
        Bells bells = Soft.of(here).bells();
        QueueBell before = bells.take();
        bells.giveBack(before);
        for (int i = 0; i < 1_000; i++) {
            WaitGroup.create(here).close();
            here.createCompletionChannel().close();
        }
        assertThat(bells.take()).isNotNull().isEqualTo(before);
    }
}
