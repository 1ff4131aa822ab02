package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.CompletionOpcode;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairAttributes;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.QueueSizes;
import io.rdmacomm.verbs.ReceiveBatch;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.WorkStatus;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.EnumSet;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Requests of one piece on shared memory are executed as plain values, and those that are not right fail as any
/// other, without an effect.
class OnePieceTest {
    private static final long MARK = 0x0123_4567_89ab_cdefL;
    private static final Duration LONG = Duration.ofSeconds(10);

    private final Arena arena = Arena.ofShared();
    private final Completions done = Completions.create(arena, 8);
    private final SendBatch batch = SendBatch.create(arena, 4, 2, 16);
    private Context context;
    private ProtectionDomain domain;
    private CompletionQueue sends;
    private CompletionQueue receives;
    private QueuePair pair;
    private QueuePair peer;
    private MemoryRegion own;
    private MemoryRegion target;

    @BeforeEach
    void open() {
        context = Soft.open("soft1=127.0.0.1");
        domain = context.allocateProtectionDomain();
        sends = queue();
        receives = queue();
        own = domain.allocate(256, EnumSet.of(AccessFlag.LOCAL_WRITE));
        target = domain.allocate(256, AccessFlag.allRemote());
        own.segment().set(ValueLayout.JAVA_LONG, 0, MARK);
        connect();
    }

    @AfterEach
    void close() {
        context.close();
        arena.close();
    }

    private CompletionQueue queue() {
        return context.createCompletionQueue(
                CompletionQueueOptions.ofCapacity(64).withChannel(context.createCompletionChannel()));
    }

    private void connect() {
        pair = domain.createQueuePair(QueuePairOptions.reliable(sends).withSizes(new QueueSizes(16, 16, 2, 2, 64)));
        peer = domain.createQueuePair(QueuePairOptions.reliable(receives).withSizes(new QueueSizes(16, 16, 2, 2, 64)));
        peer.connect(pair.info(), ConnectionOptions.defaults());
        pair.connect(peer.info(), ConnectionOptions.defaults());
    }

    private SendBatch write(long bytes) {
        return batch.clear().write(5, target.remote()).with(own, 0, bytes).signaled();
    }

    private void post() {
        assertThat(pair.post(batch)).isEqualTo(batch.size());
    }

    private void receive(long... lengths) {
        ReceiveBatch batch = ReceiveBatch.create(arena, 1, 2).receive(9);
        long at = 64;
        for (long length : lengths) {
            batch.with(target, at, length);
            at += length;
        }
        assertThat(peer.post(batch)).isEqualTo(1);
    }

    private void completes(CompletionOpcode opcode, long bytes) {
        assertThat(sends.await(done, LONG)).isEqualTo(1);
        assertThat(done.status(0)).isEqualTo(WorkStatus.SUCCESS);
        assertThat(done.workId(0)).isEqualTo(5);
        assertThat(done.opcode(0)).isEqualTo(opcode);
        assertThat(done.byteLength(0)).isEqualTo(bytes);
        assertThat(done.queuePairNumber(0)).isEqualTo(pair.number());
    }

    private void arrives(CompletionOpcode opcode, long bytes) {
        assertThat(receives.await(done, LONG)).isEqualTo(1);
        assertThat(done.status(0)).isEqualTo(WorkStatus.SUCCESS);
        assertThat(done.workId(0)).isEqualTo(9);
        assertThat(done.opcode(0)).isEqualTo(opcode);
        assertThat(done.byteLength(0)).isEqualTo(bytes);
        assertThat(done.sourceQueuePair(0)).isEqualTo(pair.number());
    }

    /// Posts a good WRITE, a wrong request and another one: the first ends, the second fails, the third is flushed.
    private void fails(WorkStatus status, Consumer<SendBatch> wrong) {
        byte[] before = target.segment().asSlice(8).toArray(ValueLayout.JAVA_BYTE);
        batch.clear().write(1, target.remote()).with(own, 0, 8).signaled();
        wrong.accept(batch);
        batch.signaled();
        batch.write(3, target.address() + 16, target.remoteKey()).with(own, 0, 8);
        assertThat(pair.post(batch)).isEqualTo(3);
        int count = 0;
        WorkStatus[] statuses = new WorkStatus[3];
        while (count < 3) {
            int some = sends.await(done, LONG);
            assertThat(some).isPositive();
            for (int i = 0; i < some; i++) {
                assertThat(done.workId(i)).isEqualTo(count + 1);
                statuses[count++] = done.status(i);
            }
        }
        assertThat(statuses).containsExactly(WorkStatus.SUCCESS, status, WorkStatus.FLUSHED);
        assertThat(sends.poll(done)).as("one completion for each").isZero();
        assertThat(target.segment().asSlice(8).toArray(ValueLayout.JAVA_BYTE)).isEqualTo(before);
        assertThat(pair.state()).isEqualTo(QueuePairState.ERROR);
        pair.close();
        peer.close();
        while (receives.poll(done) > 0) {}
        connect();
    }

    @Test
    void aWriteAndAReadMoveTheirBytes() {
        write(8);
        post();
        completes(CompletionOpcode.WRITE, 8);
        assertThat(target.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(MARK);
        batch.clear().read(5, target.remote()).with(own, 128, 8).signaled();
        post();
        completes(CompletionOpcode.READ, 8);
        assertThat(own.segment().get(ValueLayout.JAVA_LONG, 128)).isEqualTo(MARK);
    }

    @Test
    void aMessageTakesTheOldestReceive() {
        receive(100);
        batch.clear().send(5).with(own, 0, 8).signaled();
        post();
        completes(CompletionOpcode.SEND, 8);
        arrives(CompletionOpcode.RECEIVE, 8);
        assertThat(done.hasImmediate(0)).isFalse();
        assertThat(target.segment().get(ValueLayout.JAVA_LONG, 64)).isEqualTo(MARK);
    }

    @Test
    void aPayloadThatTheBatchHasCopiedArrives() {
        receive(100);
        batch.clear().send(5).inline(own.segment(), 0, 8).signaled();
        post();
        completes(CompletionOpcode.SEND, 8);
        arrives(CompletionOpcode.RECEIVE, 8);
        assertThat(target.segment().get(ValueLayout.JAVA_LONG, 64)).isEqualTo(MARK);
        batch.clear().write(5, target.remote()).inline(own.segment(), 0, 8).signaled();
        post();
        completes(CompletionOpcode.WRITE, 8);
        assertThat(target.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(MARK);
    }

    /// It waits for a receive, and its memory can be reused meanwhile.
    @Test
    void anInlinePayloadIsCopiedWhenItIsPosted() {
        batch.clear().send(5).with(own, 0, 8).inline().signaled();
        post();
        own.segment().set(ValueLayout.JAVA_LONG, 0, 0);
        batch.clear();
        receive(100);
        completes(CompletionOpcode.SEND, 8);
        arrives(CompletionOpcode.RECEIVE, 8);
        assertThat(target.segment().get(ValueLayout.JAVA_LONG, 64)).isEqualTo(MARK);
    }

    @Test
    void aWriteWithImmediateDataCompletesAReceive() {
        receive();
        batch.clear().writeWithImmediate(5, target.remote(), 77).with(own, 0, 8).signaled();
        post();
        completes(CompletionOpcode.WRITE, 8);
        assertThat(target.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(MARK);
        arrives(CompletionOpcode.RECEIVE_WRITE_WITH_IMMEDIATE, 8);
        assertThat(done.immediate(0)).isEqualTo(77);
    }

    @Test
    void immediateDataAndAnEmptyMessageArrive() {
        receive();
        batch.clear().sendWithImmediate(5, 0x01020304).signaled();
        post();
        completes(CompletionOpcode.SEND, 0);
        arrives(CompletionOpcode.RECEIVE, 0);
        assertThat(done.hasImmediate(0)).isTrue();
        assertThat(done.immediate(0)).isEqualTo(0x01020304);
    }

    @Test
    void anUnsignaledRequestHasNoCompletion() {
        batch.clear().write(1, target.remote()).with(own, 0, 8);
        post();
        write(8);
        post();
        completes(CompletionOpcode.WRITE, 8);
        assertThat(sends.poll(done)).isZero();
    }

    @Test
    void whatTheKeysDoNotAllowFails() {
        long at = own.address();
        long to = target.address() + 8;
        MemoryRegion foreign = context.allocateProtectionDomain().allocate(8, AccessFlag.allRemote());
        MemoryRegion fixed = domain.allocate(8, EnumSet.noneOf(AccessFlag.class));
        WorkStatus local = WorkStatus.LOCAL_PROTECTION_ERROR;
        WorkStatus remote = WorkStatus.REMOTE_ACCESS_ERROR;
        fails(local, b -> b.write(2, to, target.remoteKey()).with(at, 8, 0x7777));
        fails(local, b -> b.write(2, to, target.remoteKey()).with(at, 257, own.localKey()));
        fails(local, b -> b.write(2, to, target.remoteKey()).with(at - 1, 8, own.localKey()));
        fails(local, b -> b.write(2, to, target.remoteKey()).with(at, 8, 0));
        fails(remote, b -> b.write(2, to, 0x7777).with(own, 0, 8));
        fails(remote, b -> b.write(2, to + 241, target.remoteKey()).with(own, 0, 8));
        fails(remote, b -> b.write(2, foreign.address(), foreign.remoteKey()).with(own, 0, 8));
        fails(remote, b -> b.write(2, own.address(), own.remoteKey()).with(own, 0, 8));
        fails(remote, b -> b.read(2, own.address(), own.remoteKey()).with(own, 0, 8));
        fails(remote, b -> b.read(2, to, 0x7777).with(own, 0, 8));
        fails(local, b -> b.read(2, to, target.remoteKey()).with(fixed, 0, 8));
        fails(local, b -> b.send(2).with(at, 8, 0x7777));
        fails(local, b -> b.fetchAndAdd(2, to, target.remoteKey(), 1).with(at, 8, 0x7777));
    }

    @Test
    void aMessageThatIsLongerThanItsReceiveFails() {
        receive(4);
        fails(WorkStatus.REMOTE_INVALID_REQUEST, b -> b.send(2).with(own, 0, 8));
        receive(4, 4);
        batch.clear().send(5).with(own, 0, 8).signaled();
        post();
        completes(CompletionOpcode.SEND, 8);
        arrives(CompletionOpcode.RECEIVE, 8);
    }

    @Test
    void whatNeedsAReceiveWaitsForIt() {
        batch.clear().writeWithImmediate(5, target.remote(), 77).with(own, 0, 8).signaled();
        post();
        assertThat(sends.poll(done)).isZero();
        receive();
        completes(CompletionOpcode.WRITE, 8);
        arrives(CompletionOpcode.RECEIVE_WRITE_WITH_IMMEDIATE, 8);
    }

    @Test
    void memoryThatOnlyThePeerCanUseIsWrittenAndAtomicsAreExecuted() {
        MemoryRegion registered = domain.register(arena.allocate(64, 8), AccessFlag.allRemote());
        batch.clear().write(5, registered.remote()).with(own, 0, 8).signaled();
        post();
        completes(CompletionOpcode.WRITE, 8);
        assertThat(registered.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(MARK);
        batch.clear().fetchAndAdd(5, registered.remote(), 1).with(own, 8, 8).signaled();
        post();
        completes(CompletionOpcode.FETCH_AND_ADD, 8);
        assertThat(own.segment().get(ValueLayout.JAVA_LONG, 8)).isEqualTo(MARK);
        batch.clear()
                .compareAndSwap(5, registered.remote(), MARK + 1, 3)
                .with(own, 8, 8)
                .signaled();
        post();
        completes(CompletionOpcode.COMPARE_AND_SWAP, 8);
        assertThat(registered.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(3);
    }

    @Test
    void aPeerThatFailedGetsNothing() {
        write(8);
        post();
        completes(CompletionOpcode.WRITE, 8);
        target.segment().set(ValueLayout.JAVA_LONG, 0, 0);
        peer.modify(new QueuePairAttributes().state(QueuePairState.ERROR));
        write(8);
        post();
        assertThat(sends.await(done, Duration.ofMillis(100))).isZero();
        assertThat(target.segment().get(ValueLayout.JAVA_LONG, 0)).isZero();
        pair.modify(new QueuePairAttributes().state(QueuePairState.ERROR));
        assertThat(sends.await(done, LONG)).isEqualTo(1);
        assertThat(done.status(0)).isEqualTo(WorkStatus.FLUSHED);
    }
}
