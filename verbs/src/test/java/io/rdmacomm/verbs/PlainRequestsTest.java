package io.rdmacomm.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.rdmacomm.verbs.spi.RequestChain;
import io.rdmacomm.verbs.spi.SendRequest;
import io.rdmacomm.verbs.spi.SendRequestLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

/// A driver gets requests as plain values, and in memory what it does not take that way: the same requests.
class PlainRequestsTest extends QueuePairFixture {
    private static final RemoteMemory REMOTE = new RemoteMemory(0x2000, 64, 9);

    private SendBatch sends(int count) {
        return sends(count, true);
    }

    @Test
    void aRequestReadFromMemoryHasTheSameValues() {
        SendBatch batch = SendBatch.create(arena, 9, 2, 8);
        batch.send(1).with(0x1000, 8, 5).signaled();
        batch.sendWithImmediate(2, 0x01020304).solicited();
        batch.write(3, REMOTE).with(0x1000, 64, 5).inline();
        batch.writeWithImmediate(4, REMOTE, 7).with(0x1000, 8, 5).with(0x3000, 16, 6);
        batch.read(5, REMOTE).with(0x1000, 32, 5).fenced();
        batch.compareAndSwap(6, 0x2000, 9, -1, 2).with(0x1000, 8, 5);
        batch.fetchAndAdd(7, 0x2000, 9, -3).with(0x1000, 8, 5).signaled();
        batch.sendWithInvalidate(8, 0x77);
        batch.send(9).inline(arena.allocate(8), 0, 4);
        batch.workId(0, -1);

        for (int i = 0; i < batch.size(); i++) {
            SendRequest plain = batch.requests()[i];
            SendRequest read = new SendRequest(MemorySegment.NULL, 0, 2);
            read.read(batch.chain().segment(), batch.chain().at(i));
            assertThat(read)
                    .as("request %d", i)
                    .usingRecursiveComparison()
                    .comparingOnlyFields(
                            "workId", "opcode", "flags", "immediate", "elements", "length", "queueKey", "written")
                    .isEqualTo(plain);
            if (plain.elements == 1) {
                assertThat(read.address).isEqualTo(plain.address);
                assertThat(read.localKey).isEqualTo(plain.localKey);
            }
            if (i >= 2 && i < 7) {
                assertThat(read.remoteAddress).isEqualTo(0x2000);
                assertThat(read.remoteKey).isEqualTo(9);
            }
        }
    }

    @Test
    void atomicOperandsAreThoseOfTheRequest() {
        SendBatch batch = SendBatch.create(arena, 1, 1);
        batch.compareAndSwap(6, 0x2000, 9, -1, 2);
        batch.clear().fetchAndAdd(7, 0x2000, 9, -3);
        SendRequest read = new SendRequest(MemorySegment.NULL, 0, 1);
        read.read(batch.chain().segment(), 0);
        assertThat(read.operand).isEqualTo(-3);
        assertThat(read.swap).isZero();
    }

    @Test
    void keepsNothingOfThePreviousRequest() {
        SendBatch batch = SendBatch.create(arena, 1, 2);
        batch.sendWithImmediate(1, 5)
                .with(0x1000, 8, 5)
                .with(0x1000, 8, 5)
                .inline()
                .signaled();
        batch.clear().send(2);
        RequestChain chain = batch.chain();
        assertThat(chain.elementCount(0)).isZero();
        assertThat(chain.flags(0)).isZero();
        assertThat(chain.length(0)).isZero();
        assertThat(chain.segment().get(JAVA_INT, SendRequestLayout.IMMEDIATE)).isZero();
    }

    /// Each request with no, one, two and three elements, in each order.
    @Test
    void requestsOfEachShapeStandBesideEachOther() {
        SendBatch batch = SendBatch.create(arena, 3, 3);
        for (int shapes = 0; shapes < 4 * 4 * 4; shapes++) {
            int[] elements = {shapes % 4, shapes / 4 % 4, shapes / 16};
            batch.clear();
            for (int i = 0; i < 3; i++) {
                batch.send(i);
                for (int j = 0; j < elements[i]; j++) {
                    batch.with(0x1000L * i + j, 1 + j, 7 + j);
                }
            }
            RequestChain chain = batch.chain();
            for (int i = 0; i < 3; i++) {
                assertThat(chain.elementCount(i)).isEqualTo(elements[i]);
                assertThat(chain.length(i))
                        .isEqualTo(batch.requests()[i].length)
                        .isEqualTo(elements[i] * (elements[i] + 1) / 2);
                for (int j = 0; j < elements[i]; j++) {
                    assertThat(chain.segment().get(JAVA_LONG, chain.elementAt(i, j)))
                            .isEqualTo(0x1000L * i + j);
                    assertThat(chain.segment().get(JAVA_INT, chain.elementAt(i, j) + 12))
                            .isEqualTo(7 + j);
                }
            }
        }
    }

    @Test
    void theOnlyElementIsStillTheFirstWhenAnotherFollows() {
        SendBatch batch = SendBatch.create(arena, 1, 2).send(1).with(0x1000, 8, 5);
        assertThat(batch.chain().length(0)).isEqualTo(8);
        batch.with(0x2000, 4, 6);
        batch.element(0, 0, 0x3000, 16, 7);
        RequestChain chain = batch.chain();
        assertThat(chain.length(0)).isEqualTo(20);
        assertThat(chain.segment().get(JAVA_LONG, chain.elementAt(0, 0))).isEqualTo(0x3000);
        assertThat(chain.segment().get(JAVA_LONG, chain.elementAt(0, 1))).isEqualTo(0x2000);
    }

    @Test
    void memoryIsWrittenAgainOnlyAfterAChange() {
        QueuePair pair = connected(options());
        SendBatch batch = sends(2);
        assertThat(pair.post(batch)).isEqualTo(2);
        batch.chain().segment().set(JAVA_LONG, batch.chain().at(0), 70);
        batch.chain().segment().set(JAVA_LONG, batch.chain().at(1), 71);
        batch.workId(1, 5);
        assertThat(pair.post(batch)).isEqualTo(2);
        assertThat(driver(pair).sent).containsExactly(0L, 1L, 70L, 5L);
    }

    @Test
    void theDriverGetsWhatItDoesNotTakeInMemory() {
        QueuePair pair = connected(options());
        driver(pair).plainAtMost = 2;
        assertThat(pair.post(sends(4))).isEqualTo(4);
        assertThat(driver(pair).plain).containsExactly(0L, 1L);
        assertThat(driver(pair).sent).containsExactly(2L, 3L);
        assertThat(pair.post(sends(1))).as("the queue is full").isZero();
        device.complete(0, WorkStatus.SUCCESS, CompletionOpcode.SEND, pair.number());
        queue.poll(completions);
        assertThat(pair.post(sends(2), 1)).isEqualTo(1);
        assertThat(driver(pair).plain).containsExactly(0L, 1L, 1L);
    }

    @Test
    void aPartOfABatchIsPostedInTurn() {
        QueuePair pair = connected(options());
        driver(pair).plainAtMost = 1;
        SendBatch batch = sends(4);
        assertThat(pair.post(batch, 1, 2)).isEqualTo(2);
        assertThat(driver(pair).plain).containsExactly(1L);
        assertThat(driver(pair).sent).containsExactly(2L);
        assertThat(pair.post(batch, 3)).isEqualTo(1);
        assertThat(driver(pair).plain).containsExactly(1L, 3L);
    }

    @Test
    void whatIsNotTakenGivesItsSlotsBack() {
        QueuePair pair = connected(options());
        driver(pair).plainAtMost = 1;
        driver(pair).takeAtMost = 1;
        assertThat(pair.post(sends(4))).isEqualTo(2);
        driver(pair).takeAtMost = 4;
        assertThat(pair.post(sends(4))).as("two slots are free").isEqualTo(2);
    }

    @Test
    void whatIsTakenHoldsSlotsUntilItIsPolled() {
        QueuePair pair = connected(options());
        driver(pair).plainAtMost = 4;
        SendBatch batch = SendBatch.create(arena, 4, 1);
        batch.send(0).send(1).send(2).signaled().send(3);
        assertThat(pair.post(batch)).isEqualTo(4);
        assertThat(pair.post(sends(1))).isZero();
        device.complete(2, WorkStatus.SUCCESS, CompletionOpcode.SEND, pair.number());
        queue.poll(completions);
        assertThat(pair.post(sends(4))).as("the last holds its slot").isEqualTo(3);
    }

    @Test
    void aFullQueueTakesAsManyAsFit() {
        QueuePair pair = connected(options());
        driver(pair).plainAtMost = 8;
        assertThat(pair.post(sends(6))).isEqualTo(4);
        assertThat(pair.post(sends(1))).isZero();
    }

    @Test
    void nothingReachesTheDriverBeforeItIsConnected() {
        QueuePair pair = create(options());
        driver(pair).plainAtMost = 8;
        assertThatExceptionOfType(QueuePairStateException.class).isThrownBy(() -> pair.post(sends(1)));
        inState(pair, QueuePairState.ERROR);
        for (int i = 0; i < 5; i++) {
            assertThat(pair.post(sends(1)))
                    .as("a failed queue pair needs no slots")
                    .isEqualTo(1);
        }
        assertThat(driver(pair).plain).hasSize(5);
    }

    @Test
    void aRequestThatDoesNotFitIsNamedAndThoseBeforeItArePosted() {
        QueuePair pair = connected(options());
        driver(pair).plainAtMost = 8;
        SendBatch wrong = SendBatch.create(arena, 2, 1);
        wrong.send(5).signaled().send(6).with(0x1000, 1000, 5).inline();
        assertThat(pair.post(sends(2))).isEqualTo(2);
        assertThatExceptionOfType(WorkRequestException.class)
                .isThrownBy(() -> pair.post(wrong))
                .withMessageContaining("1000 inline bytes")
                .satisfies(rejected -> assertThat(rejected.index()).isEqualTo(1));
        assertThat(driver(pair).plain).containsExactly(0L, 1L, 5L);
        assertThat(driver(pair).sent).isEmpty();
    }

    @Test
    void aDatagramNeedsAnAddress() {
        QueuePair pair = create(options().withType(QueuePairType.UNRELIABLE_DATAGRAM));
        pair.startDatagrams(DatagramOptions.ofKey(0x1234));
        driver(pair).plainAtMost = 8;
        assertThatExceptionOfType(WorkRequestException.class)
                .isThrownBy(() -> pair.post(sends(1)))
                .withMessageContaining("it has no address");
    }

    @Test
    void freedRequestsAreNotPosted() {
        QueuePair pair = connected(options());
        driver(pair).plainAtMost = 8;
        SendBatch batch;
        try (Arena shortLived = Arena.ofConfined()) {
            batch = SendBatch.create(shortLived, 1, 1).send(1);
        }
        assertThatIllegalStateException().isThrownBy(() -> pair.post(batch)).withMessageContaining("was freed");
        assertThat(driver(pair).plain).isEmpty();
        assertThat(pair.post(sends(4))).as("all slots are free").isEqualTo(4);
    }
}
