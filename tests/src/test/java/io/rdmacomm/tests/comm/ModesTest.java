package io.rdmacomm.tests.comm;

import static io.rdmacomm.tests.comm.ConnectedPair.TIMEOUT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.comm.BlockingChannel;
import io.rdmacomm.comm.CompletionHandler;
import io.rdmacomm.comm.Message;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.RemoteBuffer;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.ThreadMode;
import io.rdmacomm.comm.WorkMode;
import io.rdmacomm.tests.fixture.Deadline;
import io.rdmacomm.tests.fixture.SleepingThreads;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.WorkStatus;
import java.lang.foreign.Arena;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/// Every work mode with every thread mode, on either side.
final class ModesTest {
    static Stream<Arguments> combinations() {
        return Arrays.stream(WorkMode.values())
                .flatMap(work -> Arrays.stream(ThreadMode.values()).map(thread -> Arguments.of(work, thread)));
    }

    private static SessionOptions options(WorkMode work, ThreadMode thread) {
        return SessionOptions.defaults()
                .withWorkMode(work)
                .withThreadMode(thread)
                .withChannels(2);
    }

    @ParameterizedTest
    @MethodSource("combinations")
    void echoesAndWritesOnEveryChannel(WorkMode work, ThreadMode thread) {
        try (ConnectedPair pair = ConnectedPair.of(options(work, thread))) {
            RdmaBuffer source = pair.client.allocate("source", 8, 2);
            RdmaBuffer answer = pair.server.allocate("answer", 8, 2);
            RemoteBuffer remote = pair.target(pair.server.allocate("target", 8, 2));
            List<Thread> threads = new ArrayList<>();
            List<CompletableFuture<Void>> results = new ArrayList<>();
            for (int c = 0; c < 2; c++) {
                int index = c;
                threads.add(Thread.ofVirtual()
                        .start(() -> echo(pair.serverEnd.channel(index).blocking(TIMEOUT), answer, index)));
                results.add(CompletableFuture.runAsync(
                        () -> ask(pair.clientEnd.channel(index).blocking(TIMEOUT), source, remote, index),
                        task -> threads.add(Thread.ofVirtual().start(task))));
            }
            results.forEach(CompletableFuture::join);
        }
    }

    /// A READ of registered memory waits for the peer's library, a WRITE ends when it is posted.
    @ParameterizedTest
    @MethodSource("combinations")
    void operationsThatEndAtOnceKeepTheirPlace(WorkMode work, ThreadMode thread) {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        int count = 400;
        try (ConnectedPair pair = ConnectedPair.of(options(work, thread));
                Arena arena = Arena.ofShared()) {
            RdmaBuffer source = pair.client.allocate("source", 64);
            RemoteBuffer mapped = pair.target(pair.server.allocate("mapped", 64));
            RemoteBuffer staged =
                    pair.target(pair.server.wrap("staged", arena.allocate(64, 64), AccessFlag.allRemote()));
            List<Long> ended = Collections.synchronizedList(new ArrayList<>());
            List<Long> expected = new ArrayList<>();
            CompletionHandler handler = (on, context, status, result) -> {
                assertThat(status).isEqualTo(WorkStatus.SUCCESS);
                ended.add(context);
            };
            RdmaChannel channel = pair.clientChannel();
            for (long i = 0; i < count; i++) {
                expected.add(i);
                boolean waits = random.nextInt(4) == 0;
                long context = i;
                pair.until(() -> (waits
                                ? channel.tryRead(source.slice(0, 8), staged, 0, handler, context)
                                : channel.tryWrite(source.slice(0, 8), mapped, 0, handler, context))
                        .isAccepted());
                if (random.nextInt(16) == 0) {
                    pair.until(() -> ended.size() == expected.size());
                }
            }
            pair.until(() -> ended.size() == count);
            assertThat(ended).as("seed %d", seed).isEqualTo(expected);
            assertThat(channel.inFlight()).isZero();
        }
    }

    @Test
    void epollServesAllChannelsOfASessionWithOneThread() {
        int channels = 16;
        try (ConnectedPair pair = ConnectedPair.of(
                options(WorkMode.EPOLL, ThreadMode.PER_QUEUE_PAIR).withChannels(channels))) {
            List<String> threads = Thread.getAllStackTraces().keySet().stream()
                    .map(Thread::getName)
                    .filter(name -> name.startsWith("rdmacomm-"))
                    .toList();
            assertThat(threads).filteredOn(name -> name.endsWith("-events")).hasSize(2);
            assertThat(threads).noneMatch(name -> name.contains("data-"));

            RdmaBuffer source = pair.client.allocate("source", 8);
            AtomicInteger arrived = new AtomicInteger();
            for (int i = 0; i < channels; i++) {
                pair.serverEnd.channel(i).onMessage((channel, message) -> {
                    arrived.incrementAndGet();
                });
            }
            for (int round = 0; round < 20; round++) {
                for (int i = 0; i < channels; i++) {
                    pair.clientEnd.channel(i).blocking(TIMEOUT).send(source.block(0));
                }
            }
            Deadline.await("all have arrived", () -> arrived.get() == 20 * channels);
        }
        assertThat(Thread.getAllStackTraces().keySet())
                .noneMatch(thread -> thread.getName().endsWith("-events"));
    }

    private static void echo(BlockingChannel channel, RdmaBuffer answer, int index) {
        for (int i = 0; i < 50; i++) {
            try (Message message = channel.receive()) {
                answer.segment().set(JAVA_LONG, index * 8L, message.block().get(JAVA_LONG, 0) + 1);
                channel.send(answer.block(index), message.tag());
            }
        }
    }

    private static void ask(BlockingChannel channel, RdmaBuffer source, RemoteBuffer remote, int index) {
        for (int i = 0; i < 50; i++) {
            source.segment().set(JAVA_LONG, index * 8L, i * 10L);
            channel.send(source.block(index), i);
            try (Message message = channel.receive()) {
                assertThat(message.tag()).isEqualTo(i);
                assertThat(message.block().get(JAVA_LONG, 0)).isEqualTo(i * 10L + 1);
            }
            channel.write(source.block(index), remote, index * 8L);
            assertThat(channel.fetchAndAdd(remote, index * 8L, 1)).isEqualTo(i * 10L);
        }
    }

    @Test
    void theTwoSidesMayUseDifferentModes() {
        try (ConnectedPair pair = new ConnectedPair(
                options(WorkMode.ADAPTIVE, ThreadMode.SHARED_CQ), options(WorkMode.POLLING, ThreadMode.CALLER))) {
            RdmaBuffer source = pair.client.allocate("source", 8);
            pair.serverChannel().onMessage((on, message) -> {});
            for (int i = 0; i < 500; i++) {
                pair.clientChannel().blocking(TIMEOUT).send(source.block(0));
            }
        }
    }

    @Test
    void onlyPerQueuePairModeGivesEachChannelItsThread() {
        for (ThreadMode mode : ThreadMode.values()) {
            SessionOptions options = options(WorkMode.ADAPTIVE, mode).withChannels(3);
            try (ConnectedPair pair = new ConnectedPair(
                    SessionOptions.defaults().withThreadMode(ThreadMode.CALLER), options.withName("counted"))) {
                assertThat(pair.clientEnd.channels()).hasSize(3);
                long threads = Thread.getAllStackTraces().keySet().stream()
                        .filter(thread -> thread.getName().contains("counted")
                                && thread.getName().contains("data"))
                        .count();
                assertThat(threads)
                        .isEqualTo(
                                switch (mode) {
                                    case PER_QUEUE_PAIR -> 3;
                                    case SHARED_CQ -> 1;
                                    case CALLER -> 0;
                                });
            }
        }
    }

    @Test
    void anIdleAdaptiveSessionUsesNoProcessor() {
        try (ConnectedPair pair = ConnectedPair.of(options(WorkMode.ADAPTIVE, ThreadMode.PER_QUEUE_PAIR))) {
            long[] ids = Thread.getAllStackTraces().keySet().stream()
                    .filter(thread -> thread.getName().startsWith("rdmacomm"))
                    .mapToLong(Thread::threadId)
                    .toArray();
            assertThat(ids).hasSizeGreaterThan(4);
            long before = cpuNanos(ids);
            // A blocking receive is the idle time.
            assertThat(pair.clientChannel().async().receive()).isNotCompleted();
            pauseOneSecond(pair);

            assertThat(Duration.ofNanos(cpuNanos(ids) - before)).isLessThan(Duration.ofMillis(100));
        }
    }

    /// One of the threads sleeps for all of them, and none looks again and again.
    @Tag("slow")
    @ParameterizedTest
    @EnumSource(names = {"COMPLETION_CHANNEL", "EPOLL", "ADAPTIVE"})
    void callersThatWaitUseNoProcessor(WorkMode mode) {
        int callers = 4;
        try (ConnectedPair pair =
                ConnectedPair.of(options(mode, ThreadMode.CALLER).withChannels(callers))) {
            List<Thread> threads = new ArrayList<>();
            AtomicInteger received = new AtomicInteger();
            for (int i = 0; i < callers; i++) {
                BlockingChannel channel = pair.clientEnd.channel(i).blocking(Duration.ofMinutes(1));
                threads.add(Thread.ofPlatform().daemon().start(() -> {
                    channel.receive().close();
                    received.incrementAndGet();
                }));
            }
            long[] ids = threads.stream().mapToLong(Thread::threadId).toArray();
            Deadline.await("all callers sleep", () -> threads.stream().allMatch(SleepingThreads::isAsleep));
            pauseOneSecond(pair);
            long before = cpuNanos(ids);
            pauseOneSecond(pair);

            assertThat(Duration.ofNanos(cpuNanos(ids) - before))
                    .as("one percent of a processor")
                    .isLessThan(Duration.ofMillis(10));

            RdmaBuffer message = pair.server.allocate("message", 8);
            for (int i = callers - 1; i >= 0; i--) {
                pair.serverEnd.channel(i).blocking(TIMEOUT).send(message.block(0));
            }
            Deadline.await("all callers have received", () -> received.get() == callers);
        }
    }

    private static void pauseOneSecond(ConnectedPair pair) {
        try {
            pair.serverEnd.peerBuffer("never announced", Duration.ofSeconds(1));
        } catch (io.rdmacomm.verbs.DeadlineException e) {
            assertThat(e).hasMessageContaining("never announced");
        }
    }

    private static long cpuNanos(long[] ids) {
        return Arrays.stream(ids)
                .map(id -> Math.max(0, ManagementFactory.getThreadMXBean().getThreadCpuTime(id)))
                .sum();
    }
}
