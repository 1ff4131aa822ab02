package io.rdmacomm.tests.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.tests.fixture.ContractCase;
import io.rdmacomm.tests.fixture.Deadline;
import io.rdmacomm.tests.fixture.Deviation;
import io.rdmacomm.tests.fixture.End;
import io.rdmacomm.tests.fixture.EndMemory;
import io.rdmacomm.tests.fixture.EndQueue;
import io.rdmacomm.tests.fixture.Outcome;
import io.rdmacomm.tests.fixture.Spec;
import io.rdmacomm.tests.fixture.Work;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.CompletionOpcode;
import io.rdmacomm.verbs.RemoteMemory;
import io.rdmacomm.verbs.WorkStatus;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Every operation transfers exactly the specified bytes, for every size, in both directions.
class TransferTest extends ContractCase {
    private static final int LONGEST = (1 << 20) + 3;
    private static final int GUARD = 64;

    private interface Operation {
        void run(Way way, EndMemory source, EndMemory target, int size, int number);
    }

    private static int[] sizes() {
        long seed = System.nanoTime();
        System.out.println("TransferTest: seed " + seed);
        Random random = new Random(seed);
        return IntStream.concat(
                        IntStream.of(0, 1, 7, 8, 9, 64, 4095, 4096, 65537, LONGEST),
                        IntStream.range(0, 6).map(i -> random.nextInt(1 << (2 + 3 * i))))
                .toArray();
    }

    private static EndMemory memory(End end, boolean ownSegment) {
        return ownSegment ? end.register(LONGEST + GUARD, everything()) : end.allocate(LONGEST + GUARD, everything());
    }

    private void forEverySize(boolean ownSegments, Operation operation) {
        boolean late = has(Deviation.WRITE_ARRIVES_LATER);
        for (Way way : bothWays(connected())) {
            EndMemory source = memory(way.from(), ownSegments);
            EndMemory target = memory(way.to(), ownSegments);
            int number = 0;
            for (int size : sizes()) {
                number++;
                byte[] data = pattern(size + GUARD, number);
                source.write(0, data);
                target.fill(0x55);
                operation.run(way, source, target, size, number);
                if (late) {
                    Deadline.until(
                            EndQueue.TIMEOUT_MILLIS, () -> Arrays.equals(target.read(0, size), 0, size, data, 0, size));
                }
                byte[] arrived = target.read(0, size + GUARD);
                assertThat(Arrays.equals(arrived, 0, size, data, 0, size))
                        .as("%s %s: the %d bytes arrived", fabric, way.source(), size)
                        .isTrue();
                assertThat(Arrays.copyOfRange(arrived, size, size + GUARD))
                        .as("bytes after the %d that were sent", size)
                        .containsOnly(0x55);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void sendFillsTheReceive(boolean ownSegments) {
        forEverySize(ownSegments, (way, source, target, size, number) -> {
            way.target().receive(100 + number, target.piece(0, size));
            way.source().post(Work.send(number, source.piece(0, size)));
            good(way.source().one(), number, CompletionOpcode.SEND);
            Outcome received = good(way.target().one(), 100 + number, CompletionOpcode.RECEIVE);
            assertThat(received.bytes()).isEqualTo(size);
            assertThat(received.immediate()).isNull();
            assertThat(received.queuePair()).isEqualTo(way.target().number());
        });
    }

    @Test
    void aReceiveMayBeLongerThanItsMessage() {
        forEverySize(false, (way, source, target, size, number) -> {
            way.target().receive(number, target.piece(0, size + 1));
            way.source().post(Work.send(number, source.piece(0, size)));
            good(way.source().one(), number, CompletionOpcode.SEND);
            assertThat(good(way.target().one(), number, CompletionOpcode.RECEIVE)
                            .bytes())
                    .isEqualTo(size);
        });
    }

    @Test
    void sendCarriesImmediateDataInHostOrder() {
        if (!can(Capability.SEND_WITH_IMMEDIATE)) {
            return;
        }
        forEverySize(false, (way, source, target, size, number) -> {
            way.target().receive(number, target.piece(0, size));
            way.source().post(Work.sendImmediate(number, 0xA1B2C300 | number, source.piece(0, size)));
            good(way.source().one(), number, CompletionOpcode.SEND);
            Outcome received = good(way.target().one(), number, CompletionOpcode.RECEIVE);
            assertThat(received.immediate()).isEqualTo(0xA1B2C300 | number);
            assertThat(received.bytes()).isEqualTo(size);
        });
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void writeChangesThePeersMemoryAndCompletesOnlyHere(boolean ownSegments) {
        forEverySize(ownSegments, (way, source, target, size, number) -> {
            way.source().post(Work.write(number, target.remote(), source.piece(0, size)));
            good(way.source().one(), number, CompletionOpcode.WRITE);
            assertThat(way.target().poll()).isEmpty();
        });
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void writeWithImmediateCompletesAReceiveWithoutTouchingItsMemory(boolean ownSegments) {
        if (!can(Capability.WRITE_WITH_IMMEDIATE)) {
            return;
        }
        forEverySize(ownSegments, (way, source, target, size, number) -> {
            EndMemory unused = way.to().allocate(8, everything());
            unused.fill(7);
            way.target().receive(number, unused.piece(0, 8));
            way.source().post(Work.writeImmediate(number, target.remote(), -number, source.piece(0, size)));
            good(way.source().one(), number, CompletionOpcode.WRITE);
            Outcome received = good(way.target().one(), number, CompletionOpcode.RECEIVE_WRITE_WITH_IMMEDIATE);
            assertThat(received.immediate()).isEqualTo(-number);
            assertThat(received.bytes()).isEqualTo(size);
            assertThat(unused.read(0, 8)).containsOnly(7);
            unused.close();
        });
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void readFetchesThePeersMemoryAndCompletesOnlyHere(boolean ownSegments) {
        // The data flows in the opposite direction: the target requests it.
        forEverySize(ownSegments, (way, source, target, size, number) -> {
            way.target().post(Work.read(number, source.remote(), target.piece(0, size)));
            Outcome read = good(way.target().one(), number, CompletionOpcode.READ);
            assertThat(read.bytes()).isEqualTo(size);
            assertThat(way.source().poll()).isEmpty();
        });
    }

    @Test
    void transfersZeroBytes() {
        for (Way way : bothWays(connected())) {
            way.target().receive(1);
            way.source()
                    .post(
                            Work.send(2),
                            Work.write(3, new RemoteMemory(0xdead0000L, 0, 0xbad)),
                            Work.read(4, new RemoteMemory(0xdead0000L, 0, 0xbad)));
            good(way.source().one(), 2, CompletionOpcode.SEND);
            good(way.source().one(), 3, CompletionOpcode.WRITE);
            good(way.source().one(), 4, CompletionOpcode.READ);
            assertThat(good(way.target().one(), 1, CompletionOpcode.RECEIVE).bytes())
                    .isZero();
        }
    }

    /// Regardless of the request that used its slot of the send queue before.
    @Test
    @Tag("slow")
    void aReadWithoutElementsBehindManyWritesReadsNothing() {
        for (Way way : bothWays(connected())) {
            EndMemory source = way.from().allocate(8, everything());
            EndMemory target = way.to().allocate(8, everything());
            int count = 3 * Spec.usual().sizes().sends();
            for (int i = 0; i < count; i++) {
                way.source().post(Work.write(i, target.remote(), source.piece(0, 8)));
                good(way.source().one(), i, CompletionOpcode.WRITE);
            }
            source.write(0, pattern(8, 1));
            way.source().post(Work.read(count, target.remote()));
            assertThat(good(way.source().one(), count, CompletionOpcode.READ).bytes())
                    .isZero();
            assertThat(source.read(0, 8)).isEqualTo(pattern(8, 1));
        }
    }

    /// The start of the first page after the beginning of the memory.
    private static int pageIn(EndMemory memory) {
        return (int) (-memory.remote().address() & 4095) + 4096;
    }

    /// On siw they follow a WRITE that fills the socket, so that the driver sends them later, not in the system call.
    @Test
    void sendsAndWritesAFewBytesAcrossAPage() {
        int count = 16;
        int filling = here().context().supports(Capability.SHORT_READ_ACROSS_PAGES) ? 0 : 16 << 20;
        for (Way way : bothWays(connected())) {
            EndMemory filler = way.from().allocate(filling + 1, everything());
            EndMemory filled = way.to().allocate(filling + 1, everything());
            EndMemory source = way.from().allocate(4 * 4096, everything());
            EndMemory target = way.to().allocate(4 * 4096, everything());
            byte[] data = pattern(4 * 4096, 3);
            source.write(0, data);
            for (int bytes : new int[] {2, 31, 32, 33}) {
                target.fill(0);
                Work[] works = new Work[2 * count];
                int[] from = new int[count];
                for (int i = 0; i < count; i++) {
                    from[i] = pageIn(source) - 1 - i % (bytes - 1);
                    way.target().receive(i, target.piece(8192 + i * 64L, 64));
                    works[2 * i] = Work.write(i, target.remote().slice(i * 64L, bytes), source.piece(from[i], bytes));
                    works[2 * i + 1] = Work.send(count + i, source.piece(from[i], bytes));
                }
                way.source().post(Work.write(-1, filled.remote(), filler.piece(0, filling)));
                way.source().post(works);
                good(way.source().one(), -1, CompletionOpcode.WRITE);
                assertThat(way.source().drain(2 * count))
                        .extracting(Outcome::status)
                        .containsOnly(WorkStatus.SUCCESS);
                assertThat(way.target().drain(count))
                        .extracting(Outcome::status)
                        .containsOnly(WorkStatus.SUCCESS);
                for (int i = 0; i < count; i++) {
                    byte[] expected = Arrays.copyOfRange(data, from[i], from[i] + bytes);
                    assertThat(target.read(i * 64L, bytes)).as("written").isEqualTo(expected);
                    assertThat(target.read(8192 + i * 64L, bytes)).as("sent").isEqualTo(expected);
                }
            }
        }
    }

    @Test
    void readsAFewBytesAcrossAPage() {
        for (Way way : bothWays(connected())) {
            EndMemory source = way.to().allocate(4 * 4096, everything());
            EndMemory target = way.from().allocate(64, everything());
            byte[] data = pattern(4 * 4096, 3);
            source.write(0, data);
            for (int bytes : new int[] {2, 31, 32, 33}) {
                for (int before : new int[] {1, bytes / 2, bytes - 1}) {
                    int at = pageIn(source) - before;
                    Work read = Work.read(bytes, source.remote().slice(at, bytes), target.piece(0, bytes));
                    if (bytes <= 32 && !can(Capability.SHORT_READ_ACROSS_PAGES)) {
                        assertThatThrownBy(() -> way.source().post(read))
                                .hasMessageContaining("crosses a page of the peer");
                        continue;
                    }
                    way.source().post(read);
                    good(way.source().one(), bytes, CompletionOpcode.READ);
                    assertThat(target.read(0, bytes)).isEqualTo(Arrays.copyOfRange(data, at, at + bytes));
                }
            }
        }
    }

    @Test
    void oneSidedOperationsReachTheWholeRegion() {
        for (Way way : bothWays(connected())) {
            EndMemory target = way.to().allocate(10_000, everything());
            EndMemory source = way.from().allocate(16, everything());
            source.write(0, pattern(16, 1));
            for (int offset : new int[] {0, 1, 63, 64, 4095, 4096, 9999 - 15}) {
                target.fill(0);
                way.source().post(Work.write(offset, target.remote().slice(offset, 16), source.piece(0, 16)));
                good(way.source().one(), offset, CompletionOpcode.WRITE);
                if (has(Deviation.WRITE_ARRIVES_LATER)) {
                    int at = offset;
                    Deadline.await("the WRITE", () -> Arrays.equals(target.read(at, 16), pattern(16, 1)));
                }
                byte[] all = target.read(0, 10_000);
                assertThat(Arrays.copyOfRange(all, offset, offset + 16)).isEqualTo(pattern(16, 1));
                assertThat(IntStream.range(0, all.length)
                                .filter(i -> all[i] != 0)
                                .count())
                        .as("bytes changed")
                        .isLessThanOrEqualTo(16);
            }
        }
    }

    @Test
    void aQueuePairCanBeConnectedToItself() {
        var queue = here().queue(Spec.usual());
        queue.connect(queue.info(), patient());
        EndMemory memory = here().allocate(256, everything());
        memory.write(0, pattern(64, 3));
        queue.receive(1, memory.piece(64, 64));
        queue.post(
                Work.send(2, memory.piece(0, 64)), Work.write(3, memory.remote().slice(128, 64), memory.piece(0, 64)));
        assertThat(queue.drain(3)).extracting(Outcome::id).containsExactlyInAnyOrder(1L, 2L, 3L);
        assertThat(memory.read(64, 64)).isEqualTo(pattern(64, 3));
        assertThat(memory.read(128, 64)).isEqualTo(pattern(64, 3));
    }
}
