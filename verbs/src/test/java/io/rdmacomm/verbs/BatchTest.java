package io.rdmacomm.verbs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.verbs.spi.CompletionLayout;
import io.rdmacomm.verbs.spi.ReceiveRequestLayout;
import io.rdmacomm.verbs.spi.RequestChain;
import io.rdmacomm.verbs.spi.SendRequestLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// Send batches, receive batches and completions.
class BatchTest {
    private final Arena arena = Arena.ofConfined();

    @AfterEach
    void free() {
        arena.close();
    }

    @Test
    void aFullSendBatchRejectsRequestsAndElements() {
        SendBatch batch = SendBatch.create(arena, 2, 1);
        batch.send(1).with(0x1000, 8, 1).send(2);

        assertThatIllegalStateException().isThrownBy(() -> batch.send(3)).withMessageContaining("holds 2 requests");
        assertThat(batch.size()).isEqualTo(2);
        assertThatIllegalStateException().isThrownBy(() -> batch.with(0, 1, 1).with(0, 1, 1));
        assertThat(batch.clear().size()).isZero();
        assertThat(batch.capacity()).isEqualTo(2);
    }

    @Test
    void aFullReceiveBatchRejectsRequestsAndElements() {
        ReceiveBatch batch = ReceiveBatch.create(arena, 1, 1);
        batch.receive(1).with(0x1000, 8, 1);

        assertThatIllegalStateException().isThrownBy(() -> batch.receive(2)).withMessageContaining("holds 1 requests");
        assertThatIllegalStateException().isThrownBy(() -> batch.with(0x2000, 8, 1));
        assertThat(batch.clear().receive(3).size()).isEqualTo(1);
    }

    @Test
    void aRequestKeepsNothingOfThePreviousOneInItsPlace() {
        SendBatch batch = SendBatch.create(arena, 1, 1);
        batch.localInvalidate(1, 0x1234);
        batch.clear().write(2, 0x1000, 3);
        assertThat(batch.chain().segment().get(JAVA_INT, SendRequestLayout.IMMEDIATE))
                .isZero();
    }

    @Test
    void whatIsForRegisteringMemoryIsNoRightOfAPeer() {
        for (AccessFlag flag : Set.of(AccessFlag.ON_DEMAND, AccessFlag.RELAXED_ORDERING, AccessFlag.DIRECT_VIEW)) {
            Set<AccessFlag> wrong = Set.of(AccessFlag.LOCAL_WRITE, flag);
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> new QueuePairAttributes().accessFlags(wrong))
                    .withMessageContaining(flag + " is for registering memory, not for a queue pair");
        }
    }

    @Test
    void anEmptyBatchHasNoRequestToChange() {
        SendBatch sends = SendBatch.create(arena, 1, 1);
        ReceiveBatch receives = ReceiveBatch.create(arena, 1, 1);

        assertThatThrownBy(() -> sends.with(0, 1, 1)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(sends::signaled).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(sends::inline).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> receives.with(0, 1, 1)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> sends.workId(0, 1)).isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Test
    void badSizesNameTheArgumentAndItsBounds() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> SendBatch.create(arena, 0, 1))
                .withMessageContaining("capacity of a send batch is 0");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ReceiveBatch.create(arena, 1, 257))
                .withMessageContaining("elements of a receive is 257");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Completions.create(arena, -1))
                .withMessageContaining("must be 1 to");
        SendBatch batch = SendBatch.create(arena, 1, 1, 4).send(1);
        SendBatch roomy = SendBatch.create(arena, 1, 2).send(1);
        assertThatIllegalArgumentException().isThrownBy(() -> roomy.with(0, -1, 1));
        assertThatIllegalArgumentException().isThrownBy(() -> roomy.with(0, 1L << 32, 1));
        assertThatIllegalArgumentException().isThrownBy(() -> batch.inline(arena.allocate(8), 0, 5));
    }

    @Test
    void inlineDataIsCopiedWhenItIsAdded() {
        SendBatch batch = SendBatch.create(arena, 2, 1, 16);
        MemorySegment source = arena.allocate(16);
        source.set(JAVA_BYTE, 3, (byte) 42);
        batch.send(1).inline(source, 0, 4);
        source.set(JAVA_BYTE, 3, (byte) 13);
        batch.send(2).inline(source, 3, 1);

        assertThat(inlineByte(batch, 0, 3)).isEqualTo((byte) 42);
        assertThat(inlineByte(batch, 1, 0)).isEqualTo((byte) 13);
        assertThat(batch.chain().segment().get(JAVA_INT, SendRequestLayout.FLAGS))
                .isEqualTo(SendRequestLayout.FLAG_INLINE);
        assertMostInline(batch, 4);
    }

    private static void assertMostInline(SendBatch batch, int bytes) {
        assertThat(batch.fits(checks(4, bytes))).isTrue();
        assertThat(batch.fits(checks(4, bytes - 1))).isFalse();
    }

    private static SendChecks checks(int elements, int inlineBytes) {
        QueueSizes sizes = new QueueSizes(1, 1, elements, 1, inlineBytes);
        return SendChecks.of(QueuePairType.RELIABLE_CONNECTED, capability -> true, "null0", sizes, elements);
    }

    private static byte inlineByte(SendBatch batch, int index, int offset) {
        MemorySegment bytes = batch.chain().segment();
        long address = bytes.get(JAVA_LONG, batch.chain().elementsAt(index));
        return bytes.get(JAVA_BYTE, address - bytes.address() + offset);
    }

    @Test
    void inlineDataOfOneRequestLeavesTheOthersAlone() {
        for (int bytes : new int[] {1, 7, 15, 16, 17, 64}) {
            SendBatch batch = SendBatch.create(arena, 3, 2, bytes);
            MemorySegment source = arena.allocate(bytes).fill((byte) -1);
            for (int i = 0; i < 3; i++) {
                batch.send(i).inline(source, 0, bytes);
            }
            for (int i = 0; i < 3; i++) {
                assertThat(inlineByte(batch, i, 0)).isEqualTo((byte) -1);
                assertThat(inlineByte(batch, i, bytes - 1)).isEqualTo((byte) -1);
                assertThat(batch.chain().segment().get(JAVA_LONG, batch.chain().at(i)))
                        .isEqualTo(i);
            }
        }
    }

    @Test
    void aReusedBatchRemembersNothingOfItsLastUse() {
        SendBatch batch = SendBatch.create(arena, 2, 4, 8);
        batch.read(1, 2, 3).with(0, 1, 1).with(0, 1, 1).signaled().fenced();
        batch.send(2).inline(arena.allocate(8), 0, 8);
        batch.clear().send(3).with(0x1000, 8, 1);

        assertThat(batch.contains(SendOpcode.SEND)).isTrue();
        assertThat(batch.contains(SendOpcode.READ)).isFalse();
        assertThat(batch.fits(checks(1, 0))).isTrue();
        assertThat(batch.chain().flags(0)).isZero();
        batch.chain().endAfter(0);
        assertThat(batch.chain().segment().get(JAVA_LONG, SendRequestLayout.NEXT))
                .isZero();
    }

    @Test
    void singleFieldsCanBeChangedBetweenPosts() {
        SendBatch batch = SendBatch.create(arena, 1, 1);
        batch.writeWithImmediate(1, 0x1000, 7, 9).with(0x2000, 16, 5);
        batch.workId(0, 11);
        batch.immediate(0, 0x0a0b0c0d);
        batch.remoteAddress(0, 0x3000);
        batch.element(0, 0, 0x4000, 8, 6);

        MemorySegment bytes = batch.chain().segment();
        assertThat(bytes.get(JAVA_LONG, 0)).isEqualTo(11);
        assertThat(bytes.get(JAVA_INT, SendRequestLayout.IMMEDIATE)).isEqualTo(0x0d0c0b0a);
        assertThat(bytes.get(JAVA_LONG, SendRequestLayout.REMOTE_ADDRESS)).isEqualTo(0x3000);
        assertThat(bytes.get(JAVA_LONG, batch.chain().elementsAt(0))).isEqualTo(0x4000);
        assertThatThrownBy(() -> batch.element(0, 1, 0, 0, 0)).isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Test
    void everyFieldOfARequestIsAtItsOffsetInC() {
        SendBatch batch = SendBatch.create(arena, 2, 2);
        batch.write(1, 0x1000, 7).with(0x2000, 16, -5).with(0x3000, 0xffff_ffffL, 6);
        batch.signaled();
        batch.read(2, 0x4000, 8).with(0x5000, 32, 9).solicited().signaled();

        RequestChain chain = batch.chain();
        MemorySegment bytes = chain.segment();
        for (int i = 0; i < 2; i++) {
            long at = chain.at(i);
            SendOpcode opcode = i == 0 ? SendOpcode.WRITE : SendOpcode.READ;
            assertThat(bytes.get(JAVA_LONG, at + SendRequestLayout.WORK_ID)).isEqualTo(i + 1);
            assertThat(bytes.get(JAVA_INT, at + SendRequestLayout.OPCODE)).isEqualTo(opcode.code());
            assertThat(bytes.get(JAVA_INT, at + SendRequestLayout.ELEMENT_COUNT))
                    .isEqualTo(2 - i);
            assertThat(bytes.get(JAVA_INT, at + SendRequestLayout.FLAGS))
                    .isEqualTo(SendRequestLayout.FLAG_SIGNALED | (i == 0 ? 0 : SendRequestLayout.FLAG_SOLICITED));
            assertThat(bytes.get(JAVA_LONG, at + SendRequestLayout.ELEMENTS))
                    .isEqualTo(bytes.address() + chain.elementsAt(i));
        }
        assertElement(bytes, chain.elementsAt(0), 0x2000, 16, -5);
        assertElement(bytes, chain.elementsAt(0) + ReceiveRequestLayout.ELEMENT_BYTES, 0x3000, -1, 6);
        assertElement(bytes, chain.elementsAt(1), 0x5000, 32, 9);
    }

    private static void assertElement(MemorySegment bytes, long at, long address, int length, int key) {
        assertThat(bytes.get(JAVA_LONG, at + ReceiveRequestLayout.ELEMENT_ADDRESS))
                .isEqualTo(address);
        assertThat(bytes.get(JAVA_INT, at + ReceiveRequestLayout.ELEMENT_LENGTH))
                .isEqualTo(length);
        assertThat(bytes.get(JAVA_INT, at + ReceiveRequestLayout.ELEMENT_KEY)).isEqualTo(key);
    }

    @Test
    void inlineBytesAreCountedWhateverTheOrderOfCalls() {
        SendBatch batch = SendBatch.create(arena, 2, 2);
        batch.send(1).with(0x1000, 8, 1).inline();
        assertMostInline(batch, 8);
        batch.with(0x2000, 8, 1);
        assertMostInline(batch, 16);
        batch.element(0, 1, 0x2000, 20, 1);
        assertMostInline(batch, 28);

        batch.send(2).with(0x1000, 8, 1);
        batch.element(1, 0, 0x1000, 64, 1);
        batch.inline();
        assertMostInline(batch, 64);
    }

    @Test
    void aRejectedElementIsNotAdded() {
        SendBatch batch = SendBatch.create(arena, 1, 1).send(1);
        assertThatIllegalArgumentException().isThrownBy(() -> batch.with(0x1000, -1, 1));
        assertThat(batch.chain().segment().get(JAVA_INT, SendRequestLayout.ELEMENT_COUNT))
                .isZero();
    }

    @Test
    void theChainEndsAtTheLastRequestOnly() {
        SendBatch batch = SendBatch.create(arena, 4, 1);
        ReceiveBatch receives = ReceiveBatch.create(arena, 4, 1);
        for (int i = 0; i < 4; i++) {
            batch.send(i);
            receives.receive(i);
        }
        RequestChain sent = batch.chain();
        RequestChain received = receives.chain();
        for (int last : new int[] {3, 0, 2, 2, 1, 3}) {
            sent.endAfter(last);
            received.endAfter(last);
            for (int i = 0; i < 4; i++) {
                long next = sent.segment().get(JAVA_LONG, sent.at(i) + SendRequestLayout.NEXT);
                long nextReceive = received.segment().get(JAVA_LONG, received.at(i) + ReceiveRequestLayout.NEXT);
                boolean ends = i == last || i == 3;
                assertThat(next).isEqualTo(ends ? 0 : sent.segment().address() + sent.at(i + 1));
                assertThat(nextReceive).isEqualTo(ends ? 0 : received.segment().address() + received.at(i + 1));
            }
        }
    }

    @Test
    void changesAfterReadingTheMemoryReachIt() {
        SendBatch batch = SendBatch.create(arena, 2, 2);
        MemorySegment bytes = batch.sendWithImmediate(1, 2).chain().segment();
        batch.with(0x1000, 8, 1).signaled();
        batch.immediate(0, 0x01020304);
        assertThat(batch.chain().segment().get(JAVA_INT, SendRequestLayout.ELEMENT_COUNT))
                .isEqualTo(1);
        assertThat(bytes.get(JAVA_INT, SendRequestLayout.FLAGS)).isEqualTo(SendRequestLayout.FLAG_SIGNALED);
        assertThat(bytes.get(JAVA_INT, SendRequestLayout.IMMEDIATE)).isEqualTo(0x04030201);
        batch.send(2);
        batch.immediate(0, 5);
        batch.chain().endAfter(1);
        assertThat(bytes.get(JAVA_INT, SendRequestLayout.IMMEDIATE)).isEqualTo(5 << 24);
        assertThat(bytes.get(JAVA_INT, batch.chain().at(1) + SendRequestLayout.ELEMENT_COUNT))
                .isZero();

        ReceiveBatch receives = ReceiveBatch.create(arena, 1, 2);
        MemorySegment places = receives.receive(1).chain().segment();
        receives.with(0x1000, 8, 1).with(0x2000, 8, 1);
        receives.chain().endAfter(0);
        assertThat(places.get(JAVA_INT, ReceiveRequestLayout.ELEMENT_COUNT)).isEqualTo(2);
    }

    @Test
    void aRequestNamesAddressAndKeyOfRemoteMemory() {
        RemoteMemory remote = new RemoteMemory(0x10000, 64, 77).slice(16, 32);
        SendBatch batch = SendBatch.create(arena, 5, 1);
        batch.write(1, remote).with(0, 32, 1);
        batch.writeWithImmediate(2, remote, 9).with(0, 32, 1);
        batch.read(3, remote).with(0, 32, 1);
        batch.compareAndSwap(4, remote, 5, 6).with(0, 8, 1);
        batch.fetchAndAdd(5, remote, 7).with(0, 8, 1);

        RequestChain chain = batch.chain();
        MemorySegment bytes = chain.segment();
        for (int i = 0; i < 5; i++) {
            int key = i < 3 ? SendRequestLayout.REMOTE_KEY : SendRequestLayout.ATOMIC_KEY;
            assertThat(bytes.get(JAVA_LONG, chain.at(i) + SendRequestLayout.REMOTE_ADDRESS))
                    .isEqualTo(0x10010);
            assertThat(bytes.get(JAVA_INT, chain.at(i) + key)).isEqualTo(77);
        }
    }

    @Test
    void aRequestLongerThanItsRemoteMemoryIsRejected() {
        RemoteMemory remote = new RemoteMemory(0x10000, 16, 77);
        SendBatch batch = SendBatch.create(arena, 2, 3, 32);
        batch.write(1, remote).with(0, 10, 1);
        assertThatThrownBy(() -> batch.with(0, 7, 1))
                .isInstanceOf(IndexOutOfBoundsException.class)
                .hasMessageContaining("an element of 7 bytes")
                .hasMessageContaining("6 bytes of remote memory are left");
        batch.with(0, 6, 1);
        assertThatThrownBy(() -> batch.inline(arena.allocate(1), 0, 1)).isInstanceOf(IndexOutOfBoundsException.class);

        batch.clear().read(2, 0x10000, 77).with(0, 1 << 20, 1);
        batch.send(3).with(0, 1 << 20, 1);
        RemoteMemory tooShort = remote.slice(0, 7);
        assertThatThrownBy(() -> batch.clear().fetchAndAdd(4, tooShort, 1))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> batch.compareAndSwap(5, tooShort, 1, 2)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThat(batch.size()).as("nothing was appended").isZero();
    }

    @Test
    void freedMemoryIsNotPosted() {
        SendBatch batch;
        ReceiveBatch receives;
        try (Arena shortLived = Arena.ofConfined()) {
            batch = SendBatch.create(shortLived, 1, 1).send(1);
            receives = ReceiveBatch.create(shortLived, 1, 1).receive(1);
            batch.chain().endAfter(0);
            receives.chain().endAfter(0);
        }
        assertThatIllegalStateException().isThrownBy(() -> batch.chain().endAfter(0));
        assertThatIllegalStateException().isThrownBy(() -> receives.chain().endAfter(0));
    }

    @Test
    void completionsReadTheFieldsOfC() {
        Completions completions = Completions.create(arena, 2);
        MemorySegment bytes = completions.segment();
        long at = CompletionLayout.BYTES;
        bytes.set(JAVA_LONG, at, -5L);
        bytes.set(JAVA_INT, at + 8, 10);
        bytes.set(JAVA_INT, at + 12, 129);
        bytes.set(JAVA_INT, at + 16, 77);
        bytes.set(JAVA_INT, at + 20, -1);
        bytes.set(JAVA_INT, at + 24, 0x04030201);
        bytes.set(JAVA_INT, at + 28, 0x11);
        bytes.set(JAVA_INT, at + 32, 0x12);
        bytes.set(JAVA_INT, at + 36, CompletionLayout.FLAG_IMMEDIATE);
        completions.size(2);

        assertThat(completions.workId(1)).isEqualTo(-5);
        assertThat(completions.status(1)).isEqualTo(WorkStatus.REMOTE_ACCESS_ERROR);
        assertThat(completions.isSuccess(1)).isFalse();
        assertThat(completions.isSuccess(0)).isTrue();
        assertThat(completions.opcode(1)).isEqualTo(CompletionOpcode.RECEIVE_WRITE_WITH_IMMEDIATE);
        assertThat(completions.isReceive(1)).isTrue();
        assertThat(completions.isReceive(0)).isFalse();
        assertThat(completions.vendorError(1)).isEqualTo(77);
        assertThat(completions.byteLength(1)).isEqualTo(0xffff_ffffL);
        assertThat(completions.immediate(1)).isEqualTo(0x01020304);
        assertThat(completions.hasImmediate(1)).isTrue();
        assertThat(completions.hasInvalidated(1)).isFalse();
        assertThat(completions.queuePairNumber(1)).isEqualTo(0x11);
        assertThat(completions.sourceQueuePair(1)).isEqualTo(0x12);
    }

    @Test
    void anUnknownStatusDoesNotThrow() {
        Completions completions = Completions.create(arena, 1);
        completions.segment().set(JAVA_INT, 8, 4711);
        completions.segment().set(JAVA_INT, 12, 4712);
        completions.size(1);

        assertThat(completions.status(0)).isEqualTo(WorkStatus.UNKNOWN);
        assertThat(completions.statusCode(0)).isEqualTo(4711);
        assertThat(completions.opcode(0)).isEqualTo(CompletionOpcode.UNKNOWN);
    }

    @Test
    void completionsOfEarlierPollsCannotBeRead() {
        Completions completions = Completions.create(arena, 4);
        completions.size(1);

        assertThatThrownBy(() -> completions.workId(1)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> completions.status(-1)).isInstanceOf(IndexOutOfBoundsException.class);
    }
}
