package io.rdmacomm.tests.comm;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.OperatingSystemMXBean;
import io.rdmacomm.comm.BlockingChannel;
import io.rdmacomm.comm.BufferSlice;
import io.rdmacomm.comm.ClosedException;
import io.rdmacomm.comm.Message;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.ThreadMode;
import io.rdmacomm.comm.WorkMode;
import io.rdmacomm.tests.fixture.Amount;
import io.rdmacomm.tests.fixture.Deadline;
import io.rdmacomm.verbs.DeadlineException;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/// Thousands of virtual threads that block in one channel leave the processor to those that have something to do.
final class VirtualThreadsTest {
    private static final int ALL = 10_000;
    private static final int ROUNDS = Amount.of(4, 1);
    private static final int ANSWERING = 4;
    private static final double IDLE = 0.2;
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    /// The bound that docs/40-comm-guide.md promises.
    private static final Duration PINNED = Duration.ofMillis(20);

    static Stream<Arguments> modes() {
        return Line.modes();
    }

    private interface Body {
        void run(int number) throws Exception;
    }

    /// Starts virtual threads that are numbered from 0.
    private static List<FutureTask<@Nullable Void>> start(int count, Body body) {
        return IntStream.range(0, count)
                .mapToObj(number -> {
                    FutureTask<@Nullable Void> task = new FutureTask<>(() -> {
                        body.run(number);
                        return null;
                    });
                    Thread.ofVirtual().start(task);
                    return task;
                })
                .toList();
    }

    private static void join(List<FutureTask<@Nullable Void>> tasks) throws Exception {
        join(tasks, List.of());
    }

    /// Waits for `tasks`. If one of them does not end in time, the failures of the rest and of `others` say why.
    private static void join(List<FutureTask<@Nullable Void>> tasks, List<FutureTask<@Nullable Void>> others)
            throws Exception {
        for (FutureTask<@Nullable Void> task : tasks) {
            try {
                task.get(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
            } catch (TimeoutException e) {
                long left = tasks.stream().filter(each -> !each.isDone()).count();
                AssertionError late = new AssertionError(left + " of " + tasks.size() + " threads have not ended", e);
                Stream.concat(tasks.stream(), others.stream())
                        .filter(each -> each.state() == Future.State.FAILED)
                        .limit(10)
                        .forEach(each -> late.addSuppressed(each.exceptionNow()));
                throw late;
            }
        }
    }

    private static long answerTo(long request, int tag) {
        return Long.rotateLeft(request, tag) ^ tag;
    }

    /// Answers each request with a message that has its tag, until the peer is done.
    private static void answer(BlockingChannel channel, RdmaBuffer answers, int mine) {
        try {
            while (true) {
                int tag;
                try (Message request = channel.receive()) {
                    tag = request.tag();
                    long value = request.block().get(JAVA_LONG, 0);
                    answers.segment().setAtIndex(JAVA_LONG, mine, answerTo(value, tag));
                }
                channel.send(answers.block(mine), tag);
            }
        } catch (ClosedException e) {
            // The case is over.
        }
    }

    /// While a class is loaded and initialized, threads that need it block their carriers. Some classes are only
    /// used in a recording.
    @BeforeAll
    static void initializeClasses() throws Exception {
        try (PinnedCarriers _ = new PinnedCarriers(PINNED)) {
            for (Line line : Line.values()) {
                for (ThreadMode mode : ThreadMode.values()) {
                    assertThat(wrongAnswers(line.options(WorkMode.ADAPTIVE, mode), 300, 1))
                            .isZero();
                }
            }
        }
    }

    @Tag("slow")
    @ParameterizedTest
    @MethodSource("modes")
    void everyAnswerBelongsToItsRequest(Line line, WorkMode work, ThreadMode thread) throws Exception {
        try (PinnedCarriers pinned = new PinnedCarriers(PINNED)) {
            // The threads that spin take the processor from all others.
            int rounds = work == WorkMode.POLLING ? 1 : ROUNDS;
            assertThat(wrongAnswers(line.options(work, thread), threads(work), rounds))
                    .isZero();
            assertThat(pinned.stop()).isEmpty();
        }
    }

    /// All of them in the default mode, in the others as many as there is time for.
    private static int threads(WorkMode work) {
        return work == WorkMode.ADAPTIVE ? ALL : Amount.of(ALL, 1_000);
    }

    /// Has `threads` virtual threads ask a server, `rounds` times each.
    private static int wrongAnswers(SessionOptions options, int threads, int rounds) throws Exception {
        AtomicInteger wrong = new AtomicInteger();
        try (ConnectedPair pair = ConnectedPair.of(options)) {
            RdmaBuffer answers = pair.server.allocate("answers", 8, ANSWERING);
            List<FutureTask<@Nullable Void>> server =
                    start(ANSWERING, mine -> answer(pair.serverChannel().blocking(TIMEOUT), answers, mine));
            RdmaBuffer requests = pair.client.allocate("requests", 8, threads);
            BlockingChannel channel = pair.clientChannel().blocking(TIMEOUT);
            List<CompletableFuture<Long>> answered = Stream.generate(CompletableFuture<Long>::new)
                    .limit((long) threads * rounds)
                    .toList();
            List<FutureTask<@Nullable Void>> dispatcher = start(1, any -> dispatch(channel, answered));
            List<FutureTask<@Nullable Void>> asking = start(threads, mine -> {
                for (int tag = mine; tag < answered.size(); tag += threads) {
                    long request = ThreadLocalRandom.current().nextLong();
                    requests.segment().setAtIndex(JAVA_LONG, mine, request);
                    channel.send(requests.block(mine), tag);
                    long answer = answered.get(tag).get(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
                    if (answer != answerTo(request, tag)) {
                        wrong.incrementAndGet();
                    }
                }
            });
            join(asking, Stream.concat(server.stream(), dispatcher.stream()).toList());
            join(dispatcher);
            pair.clientEnd.close();
            join(server);
        }
        return wrong.get();
    }

    /// Gives each answer to the thread that has asked: the tag says which one.
    private static void dispatch(BlockingChannel channel, List<CompletableFuture<Long>> answered) {
        for (int i = 0; i < answered.size(); i++) {
            try (Message message = channel.receive()) {
                answered.get(message.tag()).complete(message.block().get(JAVA_LONG, 0));
            }
        }
    }

    @Tag("slow")
    @ParameterizedTest
    @MethodSource("modes")
    void threadsThatWaitForAMessageLeaveTheProcessorAlone(Line line, WorkMode work, ThreadMode thread)
            throws Exception {
        try (ConnectedPair pair = ConnectedPair.of(line.options(work, thread))) {
            BlockingChannel channel = pair.serverChannel().blocking(TIMEOUT);
            int threads = threads(work);
            AtomicIntegerArray received = new AtomicIntegerArray(threads);
            AtomicInteger begun = new AtomicInteger();
            AtomicInteger ended = new AtomicInteger();
            List<FutureTask<@Nullable Void>> receivers = start(threads, any -> {
                begun.incrementAndGet();
                try (Message message = channel.receive()) {
                    received.incrementAndGet(message.tag());
                }
                ended.incrementAndGet();
            });
            Deadline.await("all threads have begun", () -> begun.get() == threads);
            if (work != WorkMode.POLLING) {
                Deadline.await("the process is idle", () -> processorShare(pair) < IDLE);
            }
            BufferSlice text = pair.client.allocate("text", 8).block(0);
            for (int tag = 0; tag < threads; tag++) {
                var _ = pair.clientChannel().async(TIMEOUT).send(text, tag);
            }
            Deadline.await("all threads have received", () -> {
                pair.client.poll();
                return ended.get() == threads;
            });
            join(receivers);
            for (int tag = 0; tag < threads; tag++) {
                assertThat(received.get(tag)).as("message %d", tag).isEqualTo(1);
            }
        }
    }

    /// The processor time of this process in a part of a second, by that time.
    private static double processorShare(ConnectedPair pair) {
        OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        long start = System.nanoTime();
        long before = system.getProcessCpuTime();
        try {
            pair.serverEnd.peerBuffer("never announced", Duration.ofMillis(200));
            throw new AssertionError("it was announced");
        } catch (DeadlineException e) {
            return (double) (system.getProcessCpuTime() - before) / (System.nanoTime() - start);
        }
    }

    /// Shows that the case above can fail.
    @Test
    void aPinnedCarrierIsSeen() throws InterruptedException {
        try (PinnedCarriers pinned = new PinnedCarriers(PINNED)) {
            Thread.ofVirtual().start(Pinning::touch).join();
            assertThat(pinned.stop()).isNotEmpty();
        }
    }

    /// Its initializer blocks, with a frame of the JVM itself on the stack.
    private static final class Pinning {
        static {
            LockSupport.parkNanos(3 * PINNED.toNanos());
        }

        static void touch() {
            // Initializes the class.
        }
    }
}
