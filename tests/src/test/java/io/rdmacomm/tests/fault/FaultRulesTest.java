package io.rdmacomm.tests.fault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.rdmacomm.tests.fault.FaultLine.Queues;
import io.rdmacomm.tests.fixture.Deadline;
import io.rdmacomm.tests.fixture.LeakCheck;
import io.rdmacomm.tests.fixture.LocalDatagrams;
import io.rdmacomm.tests.fixture.LocalQueue;
import io.rdmacomm.tests.fixture.Outcome;
import io.rdmacomm.tests.fixture.Spec;
import io.rdmacomm.tests.fixture.Work;
import io.rdmacomm.verbs.AsyncEvent;
import io.rdmacomm.verbs.AsyncEventType;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.MemoryWindowType;
import io.rdmacomm.verbs.PortState;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairAttributes;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.Rdma;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.SharedReceiveQueueOptions;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.WaitGroup;
import io.rdmacomm.verbs.WorkStatus;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.assertj.core.groups.Tuple;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/// Each rule has its effect, and everything else is as the contract says.
@ExtendWith(LeakCheck.class)
class FaultRulesTest {
    private static final long LONG_MILLIS = 60_000;
    private static final long A_WHILE_MILLIS = 50;

    private static void ended(List<Outcome> outcomes, Object... idsAndStatuses) {
        Object[] wanted = IntStream.range(0, idsAndStatuses.length / 2)
                .mapToObj(i -> tuple(idsAndStatuses[2 * i], idsAndStatuses[2 * i + 1]))
                .toArray();
        assertThat(outcomes)
                .extracting(Outcome::id, Outcome::status)
                .containsExactly(Arrays.copyOf(wanted, wanted.length, Tuple[].class));
    }

    @ParameterizedTest
    @EnumSource(
            names = {
                "LOCAL_LENGTH_ERROR",
                "LOCAL_PROTECTION_ERROR",
                "FLUSHED",
                "REMOTE_INVALID_REQUEST",
                "REMOTE_ACCESS_ERROR",
                "REMOTE_OPERATION_ERROR",
                "RETRY_EXCEEDED",
                "RECEIVER_NOT_READY_EXCEEDED",
                "GENERAL_ERROR"
            })
    void aRequestFailsWithAnyStatusAndTheRestIsFlushed(WorkStatus status) {
        try (FaultLine line = new FaultLine("fail=write:3:" + status)) {
            LocalQueue queue = line.connected().here();

            assertThat(queue.post(line.write(1), line.write(2).silent(), line.write(3), line.write(4), line.write(5)))
                    .isEqualTo(5);
            ended(queue.drain(4), 1L, WorkStatus.SUCCESS, 3L, status, 4L, WorkStatus.FLUSHED, 5L, WorkStatus.FLUSHED);
            assertThat(queue.queuePair().state()).isEqualTo(QueuePairState.ERROR);
            assertThat(queue.state()).isEqualTo(QueuePairState.ERROR);
            assertThat(IntStream.range(1, 6).mapToObj(line::isWritten))
                    .containsExactly(true, true, false, false, false);

            queue.post(line.write(6));
            queue.receive(7);
            ended(queue.drain(2), 6L, WorkStatus.FLUSHED, 7L, WorkStatus.FLUSHED);
            assertThat(queue.collect(1, A_WHILE_MILLIS)).isEmpty();
        }
    }

    @Test
    void aDatagramFailsAndTheSendsCanBeStartedAgain() {
        try (FaultLine line = new FaultLine("fail=send:2:GENERAL_ERROR&fail=send:4:LOCAL_LENGTH_ERROR");
                LocalDatagrams here = line.here.datagrams(1);
                LocalDatagrams there = line.there.datagrams(1)) {
            there.receive(10);
            there.receive(11);
            here.send(there.info(), 1, 1, new byte[8]);
            here.send(there.info(), 1, 2, new byte[8]);
            assertThat(here.collect(2, LONG_MILLIS))
                    .extracting(datagram -> datagram.outcome().status())
                    .containsExactly(WorkStatus.SUCCESS, WorkStatus.GENERAL_ERROR);
            assertThat(here.queuePair().state()).isEqualTo(QueuePairState.SEND_QUEUE_ERROR);

            here.queuePair().modify(new QueuePairAttributes().state(QueuePairState.READY_TO_SEND));
            here.send(there.info(), 1, 3, new byte[8]);
            here.send(there.info(), 1, 4, new byte[8]);

            assertThat(here.collect(2, LONG_MILLIS))
                    .extracting(datagram -> datagram.outcome().status())
                    .containsExactly(WorkStatus.SUCCESS, WorkStatus.LOCAL_LENGTH_ERROR);
            assertThat(there.collect(2, LONG_MILLIS))
                    .allMatch(datagram -> datagram.outcome().status() == WorkStatus.SUCCESS)
                    .hasSize(2);
        }
    }

    @ParameterizedTest
    @CsvSource({"REMOTE_ACCESS_ERROR, ERROR", "RECEIVER_NOT_READY_EXCEEDED, READY_TO_SEND"})
    void thePeerNoticesWhatItWouldNotice(WorkStatus status, QueuePairState state) {
        try (FaultLine line = new FaultLine("fail=write:1:" + status)) {
            Queues queues = line.connected();

            queues.here().post(line.write(1));

            ended(queues.here().drain(1), 1L, status);
            queues.there().awaitState(state);
            boolean notices = state == QueuePairState.ERROR;
            long millis = notices ? LONG_MILLIS : A_WHILE_MILLIS;
            assertThat(queues.there().happens(AsyncEventType.QUEUE_PAIR_ACCESS_ERROR, millis))
                    .isEqualTo(notices);
        }
    }

    @Test
    void everyOperationCanFail() {
        fails("fail=send:1:RECEIVER_NOT_READY_EXCEEDED", line -> Work.send(1, line.piece(0)));
        fails("fail=send:1:REMOTE_OPERATION_ERROR", line -> Work.sendImmediate(1, 5, line.piece(0)));
        fails("fail=send:1:RETRY_EXCEEDED", line -> Work.send(1, line.piece(0)).inline());
        fails("fail=send:1:RETRY_EXCEEDED", line -> Work.send(1, line.piece(0)).silent());
        fails("fail=send:1:RETRY_EXCEEDED", line -> Work.send(1));
        fails("fail=write:1:RETRY_EXCEEDED", line -> line.write(1).inline());
        fails("fail=write:1:REMOTE_ACCESS_ERROR", line -> line.write(1).inline());
        fails("fail=write:1:REMOTE_ACCESS_ERROR", line -> Work.write(1, line.target.remote()));
        fails("fail=read:1:REMOTE_ACCESS_ERROR", line -> Work.read(1, line.target.remote(), line.piece(0)));
        fails("fail=read:1:RESPONSE_TIMEOUT", line -> Work.read(1, line.target.remote(), line.piece(0)));
        fails(
                "fail=atomic:1:REMOTE_INVALID_REQUEST",
                line -> Work.fetchAndAdd(1, line.target.remote(), 5, line.piece(0)));
        fails("fail=atomic:1:RETRY_EXCEEDED", line -> Work.fetchAndAdd(1, line.target.remote(), 5, line.piece(0)));
        fails("fail=any:1:FATAL_ERROR", line -> Work.read(1, line.target.remote(), line.piece(0)));
    }

    private static void fails(String rule, Function<FaultLine, Work> work) {
        WorkStatus status = WorkStatus.valueOf(rule.substring(rule.lastIndexOf(':') + 1));
        try (FaultLine line = new FaultLine(rule)) {
            Queues queues = line.connected();
            queues.there().receive(1, line.target.piece(0, 64));
            byte[] before = line.source.read(0, 64);

            queues.here().post(work.apply(line));
            ended(queues.here().drain(1), 1L, status);

            assertThat(line.target.read(0, 64)).as(rule).containsOnly(0);
            assertThat(line.source.read(0, 64)).as(rule).isEqualTo(before);
        }
    }

    @Test
    void aBatchIsAsBeforeWhenARequestInItHasFailed() {
        try (FaultLine first = new FaultLine("fail=write:100:RETRY_EXCEEDED");
                FaultLine line = new FaultLine("fail=write:2:RETRY_EXCEEDED&fail=send:1:RETRY_EXCEEDED");
                BatchMemory memory = new BatchMemory()) {
            SendBatch batch = SendBatch.create(memory, 4, 2, 64);
            line.write(1).appendTo(batch);
            line.write(2).appendTo(batch);
            Work.send(3).silent().appendTo(batch);
            batch.send(4).inline(line.source.segment(), 0, 16);
            // Posting writes the requests into memory.
            assertThat(first.connected().here().queuePair().post(batch)).isEqualTo(4);
            byte[] before = memory.bytes();
            LocalQueue queue = line.connected().here();

            assertThat(queue.queuePair().post(batch)).isEqualTo(4);

            assertThat(memory.bytes()).isEqualTo(before);
            ended(
                    queue.drain(4),
                    1L,
                    WorkStatus.SUCCESS,
                    2L,
                    WorkStatus.RETRY_EXCEEDED,
                    3L,
                    WorkStatus.FLUSHED,
                    4L,
                    WorkStatus.FLUSHED);
        }
    }

    @ParameterizedTest
    @CsvSource({"8, REMOTE_OPERATION_ERROR", "0, SUCCESS"})
    void aReceiveFails(int bytes, WorkStatus ofSender) {
        try (FaultLine line = new FaultLine("fail=receive:2:LOCAL_LENGTH_ERROR")) {
            Queues queues = line.connected();
            for (int i = 1; i <= 3; i++) {
                queues.here().receive(i, line.source.piece(64L * i, 64));
            }

            queues.there().post(Work.send(11, line.target.piece(0, 8)), Work.send(12, line.target.piece(0, bytes)));

            ended(
                    queues.here().drain(3),
                    1L,
                    WorkStatus.SUCCESS,
                    2L,
                    WorkStatus.LOCAL_LENGTH_ERROR,
                    3L,
                    WorkStatus.FLUSHED);
            ended(queues.there().drain(2), 11L, WorkStatus.SUCCESS, 12L, ofSender);
            assertThat(queues.here().queuePair().state()).isEqualTo(QueuePairState.ERROR);
        }
    }

    @Test
    void aQueuePairThatWasResetCountsOn() {
        try (FaultLine line = new FaultLine("fail=write:/2:RETRY_EXCEEDED")) {
            for (int round = 0; round < 3; round++) {
                Queues queues = line.connected();
                queues.here().post(line.write(1), line.write(2), line.write(3));
                ended(
                        queues.here().drain(3),
                        1L,
                        WorkStatus.SUCCESS,
                        2L,
                        WorkStatus.RETRY_EXCEEDED,
                        3L,
                        WorkStatus.FLUSHED);
            }
            Queues queues = line.connected();
            queues.here().post(line.write(1));
            ended(queues.here().drain(1), 1L, WorkStatus.SUCCESS);
            queues.here().modify(QueuePairState.RESET);
            queues.there().modify(QueuePairState.RESET);
            queues.here().connect(queues.there().info(), ConnectionOptions.defaults());
            queues.there().connect(queues.here().info(), ConnectionOptions.defaults());
            queues.here().post(line.write(2));
            ended(queues.here().drain(1), 2L, WorkStatus.RETRY_EXCEEDED);
        }
    }

    @Test
    void aRuleMayBeAboutOneQueuePair() {
        try (FaultLine line = new FaultLine("fail=write@2:1:RETRY_EXCEEDED")) {
            LocalQueue first = line.connected().here();
            LocalQueue second = line.connected().here();
            first.post(line.write(1));
            second.post(line.write(2));
            ended(first.drain(1), 1L, WorkStatus.SUCCESS);
            ended(second.drain(1), 2L, WorkStatus.RETRY_EXCEEDED);
        }
    }

    @Test
    void aFullQueueTakesTheRequestsBefore() {
        try (FaultLine line = new FaultLine("full=write:3&full=receive:2")) {
            LocalQueue queue = line.connected().here();
            assertThat(queue.post(line.write(1), line.write(2), line.write(3))).isEqualTo(2);
            assertThat(queue.post(line.write(3), line.write(4))).isEqualTo(2);
            assertThat(queue.receive(5)).isEqualTo(1);
            assertThat(queue.receive(6)).isZero();
            assertThat(queue.receive(6)).isEqualTo(1);
            ended(
                    queue.drain(4),
                    1L,
                    WorkStatus.SUCCESS,
                    2L,
                    WorkStatus.SUCCESS,
                    3L,
                    WorkStatus.SUCCESS,
                    4L,
                    WorkStatus.SUCCESS);
        }
    }

    @Test
    void aLateCompletionHoldsBackThoseOfItsQueuePairOnly() {
        try (FaultLine line = new FaultLine("delay=write@1:1:150ms")) {
            Queues one = line.connected();
            Queues other = line.connected();
            long begin = System.nanoTime();
            one.here().post(line.write(1), line.write(2));
            other.here().post(line.write(3));
            ended(other.here().drain(1), 3L, WorkStatus.SUCCESS);
            ended(one.here().drain(2), 1L, WorkStatus.SUCCESS, 2L, WorkStatus.SUCCESS);
            assertThat(System.nanoTime() - begin).isGreaterThan(TimeUnit.MILLISECONDS.toNanos(149));
        }
    }

    @Test
    void lateCompletionsKeepTheirOrder() {
        try (FaultLine line = new FaultLine("seed=3&delay=any:30%:0-2ms&delay=receive:30%:0-2ms")) {
            Queues queues = line.connected();
            for (int i = 0; i < 60; i++) {
                queues.here().receive(100 + i, line.source.piece(64, 8));
                queues.there().post(Work.send(i, line.target.piece(0, 8)).silent());
                queues.here().post(line.write(i + 1));
            }
            List<Outcome> outcomes = queues.here().drain(120);
            assertThat(outcomes).extracting(Outcome::status).containsOnly(WorkStatus.SUCCESS);
            assertThat(outcomes.stream().map(Outcome::id).filter(id -> id >= 100))
                    .isSorted()
                    .hasSize(60);
            assertThat(outcomes.stream().map(Outcome::id).filter(id -> id < 100))
                    .isSorted()
                    .hasSize(60);
        }
    }

    @Test
    void aFailureWaitsForLateCompletionsBeforeIt() {
        try (FaultLine line = new FaultLine("delay=write:1:20ms&fail=write:2:RETRY_EXCEEDED")) {
            LocalQueue queue = line.connected().here();
            queue.post(line.write(1), line.write(2), line.write(3));
            ended(queue.drain(3), 1L, WorkStatus.SUCCESS, 2L, WorkStatus.RETRY_EXCEEDED, 3L, WorkStatus.FLUSHED);
        }
    }

    /// A thread that waits for a group hears of it, too.
    @Test
    void aLateCompletionEndsTheWaitOfAGroup() {
        try (FaultLine line = new FaultLine("delay=write:1:100ms")) {
            LocalQueue queue = line.connected().here();
            WaitGroup group = WaitGroup.create(queue.channel().context());
            group.add(queue.channel());
            queue.arm();
            queue.post(line.write(1));
            List<Outcome> outcomes = List.of();
            while (outcomes.isEmpty()) {
                assertThat(group.await(Duration.ofMillis(LONG_MILLIS))).isEqualTo(queue.channel());
                assertThat(queue.awaitEvent(0)).isTrue();
                outcomes = queue.poll();
                if (outcomes.isEmpty()) {
                    queue.arm();
                    outcomes = queue.poll();
                }
            }
            ended(outcomes, 1L, WorkStatus.SUCCESS);
        }
    }

    /// The only other event of the queue comes before the completion is held back.
    @Test
    void aLateCompletionRaisesAnEventWhenItIsDue() {
        try (FaultLine line = new FaultLine("delay=write:1:100ms")) {
            LocalQueue queue = line.connected().here();
            queue.arm();
            queue.post(line.write(1));
            assertThat(queue.awaitEvent(LONG_MILLIS)).isTrue();
            List<Outcome> outcomes = queue.poll();
            while (outcomes.isEmpty()) {
                queue.arm();
                outcomes = queue.poll();
                if (outcomes.isEmpty()) {
                    assertThat(queue.awaitEvent(LONG_MILLIS)).isTrue();
                    outcomes = queue.poll();
                }
            }
            ended(outcomes, 1L, WorkStatus.SUCCESS);
        }
    }

    @Test
    void theLinkGoesDownAndComesBack() throws InterruptedException {
        try (FaultLine line = new FaultLine("link-down=write:2:100ms")) {
            Context context = line.here.context();
            LocalQueue queue = line.connected().here();
            LocalQueue other = line.connected().here();
            queue.post(line.write(1));
            ended(queue.drain(1), 1L, WorkStatus.SUCCESS);
            assertThat(context.port(1).state()).isEqualTo(PortState.ACTIVE);

            queue.post(line.write(2), line.write(3));
            ended(queue.drain(2), 2L, WorkStatus.RETRY_EXCEEDED, 3L, WorkStatus.FLUSHED);
            assertThat(next(context)).isEqualTo(new AsyncEvent(AsyncEventType.PORT_ERROR, null, 1));
            assertThat(next(context)).isEqualTo(new AsyncEvent(AsyncEventType.PORT_ACTIVE, null, 1));
            assertThat(context.port(1).state()).isEqualTo(PortState.ACTIVE);
            other.post(line.write(4));
            ended(other.drain(1), 4L, WorkStatus.SUCCESS);
        }
    }

    @Test
    void theLinkStaysDown() throws InterruptedException {
        try (FaultLine line = new FaultLine("link-down=send@1:1")) {
            Context context = line.here.context();
            LocalQueue queue = line.connected().here();
            LocalQueue other = line.connected().here();
            queue.post(Work.send(1));
            ended(queue.drain(1), 1L, WorkStatus.RETRY_EXCEEDED);
            assertThat(next(context)).isEqualTo(new AsyncEvent(AsyncEventType.PORT_ERROR, null, 1));
            assertThat(context.port(1).state()).isEqualTo(PortState.DOWN);
            other.post(line.write(2));
            ended(other.drain(1), 2L, WorkStatus.RETRY_EXCEEDED);
            assertThat(context.awaitAsyncEvent(Duration.ofMillis(A_WHILE_MILLIS)))
                    .isNull();
        }
    }

    private static AsyncEvent next(Context context) throws InterruptedException {
        return context.awaitAsyncEvent(Duration.ofMillis(LONG_MILLIS));
    }

    @Test
    void theDeviceFails() throws InterruptedException {
        try (FaultLine line = new FaultLine("fatal=write:2")) {
            LocalQueue queue = line.connected().here();
            LocalQueue other = line.connected().here();
            other.receive(8, line.source.piece(0, 8));
            queue.post(line.write(1), line.write(2), line.write(3));
            List<Outcome> outcomes = queue.drain(3);
            assertThat(outcomes).extracting(Outcome::id).containsExactly(1L, 2L, 3L);
            assertThat(outcomes).extracting(Outcome::status).containsOnly(WorkStatus.FLUSHED);
            ended(other.drain(1), 8L, WorkStatus.FLUSHED);
            assertThat(other.queuePair().state()).isEqualTo(QueuePairState.ERROR);
            assertThat(next(line.here.context())).isEqualTo(new AsyncEvent(AsyncEventType.DEVICE_FATAL, null, 0));
            assertThatThrownBy(() -> line.here.queue(Spec.usual()))
                    .isInstanceOfSatisfying(
                            VerbException.class,
                            failure -> assertThat(failure.errno()).isEqualTo(Errno.EIO));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "register, ENOMEM",
        "allocate-domain, ENOMEM",
        "allocate-window, ENOSPC",
        "create-channel, EIO",
        "create-completion-queue, EINVAL",
        "create-shared-receive-queue, ENOMEM",
        "create-queue-pair, ENOMEM",
        "connect, ETIMEDOUT"
    })
    void aCallFails(String call, Errno errno) {
        try (Context context = Rdma.open("fault:soft0?fail=" + call + ":3:" + errno)) {
            ProtectionDomain domain = context.allocateProtectionDomain();
            CompletionQueue queue = context.createCompletionQueue(CompletionQueueOptions.ofCapacity(8));
            List<VerbException> failures = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                try {
                    make(call, context, domain, queue);
                } catch (VerbException e) {
                    failures.add(e);
                }
            }
            assertThat(failures).singleElement().satisfies(failure -> {
                assertThat(failure.errno()).isEqualTo(errno);
                assertThat(failure).hasMessageContaining("a rule in the name of device fault:soft0?fail=" + call);
            });
        }
    }

    private static void make(String call, Context context, ProtectionDomain domain, CompletionQueue queue) {
        switch (call) {
            case "register" -> domain.allocate(8, Set.of());
            case "allocate-domain" -> context.allocateProtectionDomain();
            case "allocate-window" -> domain.allocateWindow(MemoryWindowType.TYPE_1);
            case "create-channel" -> context.createCompletionChannel();
            case "create-completion-queue" -> context.createCompletionQueue(CompletionQueueOptions.ofCapacity(8));
            case "create-shared-receive-queue" -> domain.createSharedReceiveQueue(SharedReceiveQueueOptions.ofDepth(8));
            case "create-queue-pair" -> domain.createQueuePair(QueuePairOptions.reliable(queue));
            case "connect" -> {
                QueuePair pair = domain.createQueuePair(QueuePairOptions.reliable(queue));
                pair.connect(pair.info());
            }
            default -> throw new IllegalArgumentException(call);
        }
    }

    @Test
    void aCallTakesLonger() {
        try (Context context = Rdma.open("fault:soft0?delay=register:2:60ms");
                ProtectionDomain domain = context.allocateProtectionDomain()) {
            domain.allocate(8, Set.of()).close();
            long begin = System.nanoTime();
            domain.allocate(8, Set.of()).close();
            assertThat(System.nanoTime() - begin).isGreaterThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(60));
        }
    }

    @Test
    void aWrappedDeviceMayHaveRulesToo() {
        try (Context context = Rdma.open("fault:fault:soft0?fail=register:1:ENOMEM?fail=register:2:EIO");
                ProtectionDomain domain = context.allocateProtectionDomain()) {
            assertThatThrownBy(() -> domain.allocate(8, Set.of())).hasMessageContaining("ENOMEM");
            assertThatThrownBy(() -> domain.allocate(8, Set.of())).hasMessageContaining("EIO");
            domain.allocate(8, Set.of());
        }
    }

    @Test
    void closingWakesThoseWhoWaitForEvents() throws Exception {
        Context context = Rdma.open("fault:soft0?fatal=write:1");
        Thread waiting = Thread.ofVirtual()
                .start(() -> assertThatThrownBy(() -> next(context)).isInstanceOf(IllegalStateException.class));
        Deadline.await("waiting", () -> waiting.getState() == Thread.State.TIMED_WAITING);
        context.close();
        waiting.join();
    }

    /// Remembers the memory of the batch that was created in it.
    private static final class BatchMemory implements Arena {
        private final Arena arena = Arena.ofShared();
        private MemorySegment allocated = MemorySegment.NULL;

        byte[] bytes() {
            return allocated.toArray(ValueLayout.JAVA_BYTE);
        }

        @Override
        public MemorySegment allocate(long bytes, long alignment) {
            allocated = arena.allocate(bytes, alignment);
            return allocated;
        }

        @Override
        public MemorySegment.Scope scope() {
            return arena.scope();
        }

        @Override
        public void close() {
            arena.close();
        }
    }
}
