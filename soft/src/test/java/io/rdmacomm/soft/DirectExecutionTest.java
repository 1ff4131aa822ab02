package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.CompletionOpcode;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.DirectBatch;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairAttributes;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.QueueSizes;
import io.rdmacomm.verbs.ReceiveBatch;
import io.rdmacomm.verbs.SendOpcode;
import io.rdmacomm.verbs.spi.DirectRequest;
import io.rdmacomm.verbs.spi.SendRequestLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.EnumSet;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Requests as plain values on shared memory: the good case is executed, and any other has no effect at all.
class DirectExecutionTest {
    private static final long MARK = 0x0123_4567_89ab_cdefL;

    private final Arena arena = Arena.ofShared();
    private final Completions done = Completions.create(arena, 8);
    private Context context;
    private ProtectionDomain domain;
    private CompletionQueue sends;
    private CompletionQueue receives;
    private QueuePair pair;
    private QueuePair peer;
    private MemoryRegion own;
    private MemoryRegion target;

    @BeforeEach
    void connect() {
        context = Soft.open("soft1=127.0.0.1");
        domain = context.allocateProtectionDomain();
        sends = context.createCompletionQueue(CompletionQueueOptions.ofCapacity(64));
        receives = context.createCompletionQueue(CompletionQueueOptions.ofCapacity(64));
        pair = domain.createQueuePair(QueuePairOptions.reliable(sends).withSizes(new QueueSizes(16, 16, 2, 2, 64)));
        peer = domain.createQueuePair(QueuePairOptions.reliable(receives).withSizes(new QueueSizes(16, 16, 2, 2, 64)));
        peer.connect(pair.info());
        pair.connect(peer.info());
        own = domain.allocate(256, EnumSet.of(AccessFlag.LOCAL_WRITE));
        target = domain.allocate(256, AccessFlag.allRemote());
        own.segment().set(ValueLayout.JAVA_LONG, 0, MARK);
        // The first request finds the peer.
        pair.post(DirectBatch.create(arena, 1).write(0, target.remote()).signaled());
        assertThat(sends.poll(done)).isEqualTo(1);
    }

    @AfterEach
    void close() {
        context.close();
        arena.close();
    }

    private DirectRequest request(SendOpcode opcode) {
        DirectRequest request = new DirectRequest();
        request.workId = 5;
        request.opcode = opcode.code();
        request.flags = SendRequestLayout.FLAG_SIGNALED;
        request.hasElement = true;
        request.address = own.address();
        request.length = 8;
        request.localKey = own.localKey();
        request.remoteAddress = target.address();
        request.remoteKey = target.remoteKey();
        return request;
    }

    private int execute(DirectRequest... requests) {
        pair.sendLock().lock();
        try {
            return Soft.of(pair).execute(requests, 0, requests.length);
        } finally {
            pair.sendLock().unlock();
        }
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
        assertThat(sends.poll(done)).isEqualTo(1);
        assertThat(done.isSuccess(0)).isTrue();
        assertThat(done.workId(0)).isEqualTo(5);
        assertThat(done.opcode(0)).isEqualTo(opcode);
        assertThat(done.byteLength(0)).isEqualTo(bytes);
        assertThat(done.queuePairNumber(0)).isEqualTo(pair.number());
    }

    private void arrives(long bytes) {
        assertThat(receives.poll(done)).isEqualTo(1);
        assertThat(done.isSuccess(0)).isTrue();
        assertThat(done.workId(0)).isEqualTo(9);
        assertThat(done.opcode(0)).isEqualTo(CompletionOpcode.RECEIVE);
        assertThat(done.byteLength(0)).isEqualTo(bytes);
        assertThat(done.sourceQueuePair(0)).isEqualTo(pair.number());
    }

    /// The request is left to the other way, nobody has noticed it, and a good one still works.
    private void isLeft(SendOpcode opcode, Consumer<DirectRequest> wrong) {
        DirectRequest request = request(opcode);
        wrong.accept(request);
        byte[] before = target.segment().toArray(ValueLayout.JAVA_BYTE);
        assertThat(execute(request)).isZero();
        assertThat(sends.poll(done)).isZero();
        assertThat(receives.poll(done)).isZero();
        assertThat(target.segment().toArray(ValueLayout.JAVA_BYTE)).isEqualTo(before);
        assertThat(pair.state()).isEqualTo(QueuePairState.READY_TO_SEND);
        assertThat(peer.state()).isEqualTo(QueuePairState.READY_TO_SEND);
        assertThat(execute(request(SendOpcode.WRITE))).isEqualTo(1);
        completes(CompletionOpcode.WRITE, 8);
        target.segment().set(ValueLayout.JAVA_LONG, 0, 0);
    }

    @Test
    void aWriteAndAReadMoveTheirBytes() {
        assertThat(execute(request(SendOpcode.WRITE))).isEqualTo(1);
        completes(CompletionOpcode.WRITE, 8);
        assertThat(target.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(MARK);
        DirectRequest read = request(SendOpcode.READ);
        read.address += 128;
        assertThat(execute(read)).isEqualTo(1);
        completes(CompletionOpcode.READ, 8);
        assertThat(own.segment().get(ValueLayout.JAVA_LONG, 128)).isEqualTo(MARK);
    }

    @Test
    void aMessageTakesTheOldestReceive() {
        receive(100);
        assertThat(execute(request(SendOpcode.SEND))).isEqualTo(1);
        completes(CompletionOpcode.SEND, 8);
        arrives(8);
        assertThat(done.hasImmediate(0)).isFalse();
        assertThat(target.segment().get(ValueLayout.JAVA_LONG, 64)).isEqualTo(MARK);
    }

    @Test
    void aWriteWithImmediateDataCompletesAReceive() {
        isLeft(SendOpcode.WRITE_WITH_IMMEDIATE, request -> {});
        receive();
        isLeft(SendOpcode.WRITE_WITH_IMMEDIATE, request -> request.remoteKey = own.remoteKey());
        DirectRequest request = request(SendOpcode.WRITE_WITH_IMMEDIATE);
        request.immediate = Integer.reverseBytes(77);
        assertThat(execute(request)).isEqualTo(1);
        completes(CompletionOpcode.WRITE, 8);
        assertThat(target.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(MARK);
        assertThat(receives.poll(done)).isEqualTo(1);
        assertThat(done.opcode(0)).isEqualTo(CompletionOpcode.RECEIVE_WRITE_WITH_IMMEDIATE);
        assertThat(done.byteLength(0)).isEqualTo(8);
        assertThat(done.immediate(0)).isEqualTo(77);
    }

    @Test
    void immediateDataAndAnEmptyMessageArrive() {
        receive();
        DirectRequest request = request(SendOpcode.SEND_WITH_IMMEDIATE);
        request.hasElement = false;
        request.length = 0;
        request.immediate = Integer.reverseBytes(0x01020304);
        assertThat(execute(request)).isEqualTo(1);
        completes(CompletionOpcode.SEND, 0);
        arrives(0);
        assertThat(done.hasImmediate(0)).isTrue();
        assertThat(done.immediate(0)).isEqualTo(0x01020304);
    }

    @Test
    void anUnsignaledRequestHasNoCompletion() {
        DirectRequest request = request(SendOpcode.WRITE);
        request.flags = 0;
        assertThat(execute(request)).isEqualTo(1);
        assertThat(sends.poll(done)).isZero();
    }

    @Test
    void aChainEndsBeforeTheFirstThatIsNotGood() {
        DirectRequest wrong = request(SendOpcode.WRITE);
        wrong.remoteKey++;
        assertThat(execute(request(SendOpcode.WRITE), wrong, request(SendOpcode.WRITE)))
                .isEqualTo(1);
        completes(CompletionOpcode.WRITE, 8);
    }

    @Test
    void whatTheKeysDoNotAllowIsLeft() {
        for (SendOpcode opcode : Set.of(SendOpcode.WRITE, SendOpcode.READ)) {
            isLeft(opcode, request -> request.localKey = 0x7777);
            isLeft(opcode, request -> request.length = 257);
            isLeft(opcode, request -> request.address -= 1);
            isLeft(opcode, request -> request.remoteKey = 0x7777);
            isLeft(opcode, request -> request.remoteAddress += 249);
            MemoryRegion foreign = context.allocateProtectionDomain().allocate(8, AccessFlag.allRemote());
            isLeft(opcode, request -> request.remoteKey = foreign.remoteKey());
        }
        isLeft(SendOpcode.WRITE, request -> request.remoteKey = own.remoteKey());
        isLeft(SendOpcode.READ, request -> request.remoteKey = own.remoteKey());
        MemoryRegion fixed = domain.allocate(8, EnumSet.noneOf(AccessFlag.class));
        isLeft(SendOpcode.READ, request -> {
            request.address = fixed.address();
            request.localKey = fixed.localKey();
        });
    }

    @Test
    void aMessageWithoutARightReceiveIsLeft() {
        isLeft(SendOpcode.SEND, request -> {});
        receive(4);
        isLeft(SendOpcode.SEND, request -> {});
        assertThat(execute(shorter())).as("the receive is still there").isEqualTo(1);
        completes(CompletionOpcode.SEND, 4);
        arrives(4);
        receive(4, 4);
        isLeft(SendOpcode.SEND, request -> {});
    }

    private DirectRequest shorter() {
        DirectRequest request = request(SendOpcode.SEND);
        request.length = 4;
        return request;
    }

    @Test
    void whatNeedsMoreIsLeft() {
        isLeft(SendOpcode.FETCH_AND_ADD, request -> {});
        isLeft(SendOpcode.COMPARE_AND_SWAP, request -> {});
        MemoryRegion registered = domain.register(arena.allocate(64, 8), AccessFlag.allRemote());
        isLeft(SendOpcode.WRITE, request -> {
            request.remoteKey = registered.remoteKey();
            request.remoteAddress = registered.address();
        });
    }

    @Test
    void aPeerThatFailedIsLeft() {
        peer.modify(new QueuePairAttributes().state(QueuePairState.ERROR));
        assertThat(execute(request(SendOpcode.WRITE))).isZero();
        assertThat(execute(request(SendOpcode.SEND))).isZero();
        assertThat(sends.poll(done)).isZero();
    }
}
