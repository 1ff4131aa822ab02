package io.rdmacomm.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.verbs.spi.RequestChain;
import io.rdmacomm.verbs.spi.SendRequestLayout;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

/// Requests as plain values: the same requests as in a [SendBatch], whether the device executes them
/// directly or not.
class DirectBatchTest extends QueuePairFixture {
    private static final RemoteMemory REMOTE = new RemoteMemory(0x2000, 64, 9);

    private DirectBatch sends(int count) {
        DirectBatch batch = DirectBatch.create(arena, count);
        for (int i = 0; i < count; i++) {
            batch.send(i).signaled();
        }
        return batch;
    }

    @Test
    void fillsTheSameWorkRequests() {
        DirectBatch direct = DirectBatch.create(arena, 8);
        direct.send(1).with(0x1000, 8, 5).signaled();
        direct.sendWithImmediate(2, 0x01020304).solicited();
        direct.write(3, REMOTE).with(0x1000, 64, 5).inline();
        direct.writeWithImmediate(4, REMOTE, 7).with(0x1000, 0, 5);
        direct.read(5, REMOTE).with(0x1000, 32, 5).fenced();
        direct.compareAndSwap(6, 0x2000, 9, -1, 2).with(0x1000, 8, 5);
        direct.fetchAndAdd(7, 0x2000, 9, -3).with(0x1000, 8, 5).signaled();
        direct.workId(0, -1);
        SendBatch expected = SendBatch.create(arena, 8, 1);
        expected.send(-1).with(0x1000, 8, 5).signaled();
        expected.sendWithImmediate(2, 0x01020304).solicited();
        expected.write(3, REMOTE).with(0x1000, 64, 5).inline();
        expected.writeWithImmediate(4, REMOTE, 7).with(0x1000, 0, 5);
        expected.read(5, REMOTE).with(0x1000, 32, 5).fenced();
        expected.compareAndSwap(6, 0x2000, 9, -1, 2).with(0x1000, 8, 5);
        expected.fetchAndAdd(7, 0x2000, 9, -3).with(0x1000, 8, 5).signaled();

        RequestChain actual = direct.inMemory().chain();
        RequestChain wanted = expected.chain();
        assertThat(actual.size()).isEqualTo(direct.size()).isEqualTo(wanted.size());
        assertThat(actual.opcodes()).isEqualTo(wanted.opcodes());
        for (int i = 0; i < wanted.size(); i++) {
            assertThat(request(actual, i).mismatch(request(wanted, i)))
                    .as("request %d", i)
                    .isEqualTo(-1);
            assertThat(element(actual, i).mismatch(element(wanted, i)))
                    .as("element of request %d", i)
                    .isEqualTo(-1);
        }
    }

    /// From the element count on: before it are the work id and addresses of the batch's own memory.
    private static MemorySegment request(RequestChain chain, int index) {
        assertThat(chain.segment().get(JAVA_LONG, chain.at(index))).isEqualTo(index == 0 ? -1 : index + 1);
        int from = SendRequestLayout.ELEMENT_COUNT;
        return chain.segment().asSlice(chain.at(index) + from, SendRequestLayout.BYTES - from);
    }

    private static MemorySegment element(RequestChain chain, int index) {
        return chain.segment().asSlice(chain.elementsAt(index), 16);
    }

    @Test
    void keepsNothingOfThePreviousRequest() {
        DirectBatch batch = DirectBatch.create(arena, 1);
        batch.sendWithImmediate(1, 5).with(0x1000, 8, 5).inline().signaled();
        batch.clear().send(2);
        RequestChain chain = batch.inMemory().chain();
        assertThat(chain.elementCount(0)).isZero();
        assertThat(chain.flags(0)).isZero();
        assertThat(chain.segment().get(JAVA_INT, SendRequestLayout.IMMEDIATE)).isZero();
    }

    @Test
    void rejectsWhatDoesNotFit() {
        DirectBatch batch = DirectBatch.create(arena, 1);
        assertThatThrownBy(batch::signaled).isInstanceOf(IndexOutOfBoundsException.class);
        batch.write(1, REMOTE);
        assertThatThrownBy(() -> batch.with(0x1000, 65, 5))
                .isInstanceOf(IndexOutOfBoundsException.class)
                .hasMessageContaining("64 bytes of remote memory");
        assertThatIllegalArgumentException().isThrownBy(() -> batch.with(0x1000, -1, 5));
        batch.with(0x1000, 64, 5);
        assertThatIllegalStateException()
                .isThrownBy(() -> batch.with(0x1000, 0, 5))
                .withMessageContaining("at most 1 element");
        assertThatIllegalStateException().isThrownBy(() -> batch.send(2)).withMessageContaining("holds 1 requests");
        assertThatThrownBy(() -> batch.workId(1, 0)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThat(batch.size()).isEqualTo(1);
        assertThat(batch.capacity()).isEqualTo(1);
    }

    @Test
    void theDriverGetsWhatItDoesNotExecuteInMemory() {
        QueuePair pair = connected(options());
        driver(pair).executeAtMost = 2;
        assertThat(pair.post(sends(4))).isEqualTo(4);
        assertThat(driver(pair).executed).containsExactly(0L, 1L);
        assertThat(driver(pair).sent).containsExactly(2L, 3L);
        assertThat(pair.post(sends(1))).as("the queue is full").isZero();
        device.complete(0, WorkStatus.SUCCESS, CompletionOpcode.SEND, pair.number());
        queue.poll(completions);
        assertThat(pair.post(sends(2), 1)).isEqualTo(1);
        assertThat(driver(pair).executed).containsExactly(0L, 1L, 1L);
    }

    @Test
    void whatIsExecutedTakesSlotsUntilItIsPolled() {
        QueuePair pair = connected(options());
        driver(pair).executeAtMost = 4;
        DirectBatch batch = DirectBatch.create(arena, 4);
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
        driver(pair).executeAtMost = 8;
        assertThat(pair.post(sends(6))).isEqualTo(4);
        assertThat(pair.post(sends(1))).isZero();
    }

    @Test
    void executesNothingBeforeItIsConnectedOrAfterAFailure() {
        QueuePair pair = create(options());
        driver(pair).executeAtMost = 8;
        assertThatExceptionOfType(QueuePairStateException.class).isThrownBy(() -> pair.post(sends(1)));
        inState(pair, QueuePairState.ERROR);
        assertThat(pair.post(sends(1))).isEqualTo(1);
        assertThat(driver(pair).executed).isEmpty();
        assertThat(driver(pair).sent).containsExactly(0L);
    }

    @Test
    void aRequestThatDoesNotFitIsNamedAndThoseBeforeItArePosted() {
        QueuePair pair = connected(options());
        driver(pair).executeAtMost = 8;
        DirectBatch batch = sends(2);
        DirectBatch wrong = DirectBatch.create(arena, 2);
        wrong.send(5).signaled().send(6).with(0x1000, 1000, 5).inline();
        assertThat(pair.post(batch)).isEqualTo(2);
        assertThatExceptionOfType(WorkRequestException.class)
                .isThrownBy(() -> pair.post(wrong))
                .withMessageContaining("1000 inline bytes")
                .satisfies(rejected -> assertThat(rejected.index()).isEqualTo(1));
        assertThat(driver(pair).sent).containsExactly(5L);
    }

    @Test
    void aDatagramNeedsABatchWithAddresses() {
        QueuePair pair = create(options().withType(QueuePairType.UNRELIABLE_DATAGRAM));
        pair.startDatagrams(DatagramOptions.ofKey(0x1234));
        driver(pair).executeAtMost = 8;
        assertThatExceptionOfType(WorkRequestException.class)
                .isThrownBy(() -> pair.post(sends(1)))
                .withMessageContaining("it has no address");
    }

    @Test
    void theLockOfTheSendsIsThatOfTheDriver() {
        QueuePair pair = connected(options());
        assertThat(pair.sendLock()).isSameAs(driver(pair).owner.sendLock());
    }
}
