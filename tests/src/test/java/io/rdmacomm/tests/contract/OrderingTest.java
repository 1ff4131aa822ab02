package io.rdmacomm.tests.contract;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.tests.fixture.Amount;
import io.rdmacomm.tests.fixture.ContractCase;
import io.rdmacomm.tests.fixture.Deadline;
import io.rdmacomm.tests.fixture.EndMemory;
import io.rdmacomm.tests.fixture.LocalMemory;
import io.rdmacomm.tests.fixture.Outcome;
import io.rdmacomm.tests.fixture.Work;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.CompletionOpcode;
import io.rdmacomm.verbs.UnsupportedVerbException;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/// The order on one queue pair, as seen by completions and by a program that looks at memory.
class OrderingTest extends ContractCase {
    private static final VarHandle BYTE = JAVA_BYTE.varHandle();

    @Test
    void aWriteIsVisibleWhenALaterSendArrives() {
        for (Way way : bothWays(connected())) {
            EndMemory source = way.from().allocate(8, everything());
            EndMemory target = way.to().allocate(8, everything());
            for (int i = 1; i <= Amount.onLine(300, 30); i++) {
                source.setLong(0, i);
                way.target().receive(i);
                way.source()
                        .post(Work.write(i, target.remote(), source.piece(0, 8)).silent(), Work.send(i));
                good(way.target().one(), i, CompletionOpcode.RECEIVE);
                assertThat(target.getLong(0)).isEqualTo(i);
                good(way.source().one(), i, CompletionOpcode.SEND);
            }
        }
    }

    @Test
    void aLargeWriteIsCompletelyVisibleWhenALaterSendArrives() {
        int bytes = 1 << 18;
        Pair pair = connected();
        EndMemory source = there().allocate(bytes, everything());
        LocalMemory target = here().allocate(bytes, everything());
        for (int i = 1; i <= Amount.onLine(50, 10); i++) {
            source.fill(i);
            pair.here().receive(i);
            pair.there()
                    .post(Work.write(i, target.remote(), source.piece(0, bytes)).silent(), Work.send(i));
            pair.here().one();
            assertThat(mismatch(target.segment(), i))
                    .as("first byte that is not %d", i)
                    .isEqualTo(-1);
            pair.there().one();
        }
    }

    private static long mismatch(MemorySegment segment, int value) {
        long word = 0x0101010101010101L * (value & 0xff);
        for (long i = 0; i + 8 <= segment.byteSize(); i += 8) {
            if (segment.get(JAVA_LONG, i) != word) {
                return i;
            }
        }
        return -1;
    }

    @Test
    void theLastByteOfAWriteIsWrittenLast() {
        int bytes = 1 << 16;
        int rounds = Amount.onLine(500, 30);
        Pair pair = connected();
        EndMemory source = there().allocate((long) bytes * 2, everything());
        LocalMemory target = here().allocate(bytes, everything());
        MemorySegment memory = target.segment();
        for (int i = 1; i <= rounds; i++) {
            // Two pages in turn, so that filling one does not race with the WRITE of the other.
            int value = i % 127 + 1;
            source.write((long) (i % 2) * bytes, filled(bytes, value));
            pair.there().post(Work.write(i, target.remote(), source.piece((long) (i % 2) * bytes, bytes)));
            Deadline.await("the last byte", () -> (byte) BYTE.getAcquire(memory, bytes - 1L) == value);
            assertThat(mismatch(memory, value))
                    .as("round %d: first byte that is not there", i)
                    .isEqualTo(-1);
            good(pair.there().one(), i, CompletionOpcode.WRITE);
        }
    }

    private static byte[] filled(int length, int value) {
        byte[] bytes = new byte[length];
        Arrays.fill(bytes, (byte) value);
        return bytes;
    }

    @Test
    void aReadSeesAnEarlierWrite() {
        for (Way way : bothWays(connected())) {
            EndMemory local = way.from().allocate(16, everything());
            EndMemory target = way.to().allocate(8, everything());
            for (int i = 1; i <= Amount.onLine(200, 20); i++) {
                local.setLong(0, i);
                way.source()
                        .post(
                                Work.write(i, target.remote(), local.piece(0, 8))
                                        .silent(),
                                Work.read(i, target.remote(), local.piece(8, 8)));
                good(way.source().one(), i, CompletionOpcode.READ);
                assertThat(local.getLong(8)).isEqualTo(i);
            }
        }
    }

    @Test
    void aFencedRequestWaitsForEarlierReadsAndAtomics() {
        for (Way way : bothWays(connected())) {
            EndMemory local = way.from().allocate(64, everything());
            EndMemory target = way.to().allocate(64, everything());
            for (int i = 1; i <= Amount.onLine(200, 20); i++) {
                target.setLong(0, i);
                // READs into memory that the WRITE sends: correct only if the WRITE waits for the READ.
                way.source()
                        .post(
                                Work.read(1, target.remote(), local.piece(8, 8)).silent(),
                                Work.write(2, target.remote().slice(16, 8), local.piece(8, 8))
                                        .fenced()
                                        .silent(),
                                Work.fetchAndAdd(3, target.remote().slice(16, 8), 1, local.piece(24, 8))
                                        .silent(),
                                Work.write(4, target.remote().slice(32, 8), local.piece(24, 8))
                                        .fenced());
                good(way.source().one(), 4, CompletionOpcode.WRITE);
                assertThat(target.getLong(16)).isEqualTo(i + 1);
                assertThat(target.getLong(32)).isEqualTo(i);
            }
        }
    }

    @Test
    void aFencedReadWorksOrIsRejectedWithoutSideEffects() {
        Pair pair = connected();
        EndMemory local = here().allocate(16, everything());
        EndMemory target = there().allocate(16, everything());
        target.write(0, pattern(16, 4));
        Work first = Work.read(1, target.remote(), local.piece(0, 8)).silent();
        Work fenced =
                Work.read(2, target.remote().slice(8, 8), local.piece(8, 8)).fenced();
        if (can(Capability.FENCED_READ)) {
            pair.here().post(first, fenced);
        } else {
            assertThatThrownBy(() -> pair.here().post(first, fenced))
                    .isInstanceOf(UnsupportedVerbException.class)
                    .hasMessageContaining("a READ cannot be fenced");
            pair.here().post(Work.read(2, target.remote().slice(8, 8), local.piece(8, 8)));
        }
        good(pair.here().one(), 2, CompletionOpcode.READ);
        assertThat(local.read(0, 16)).isEqualTo(pattern(16, 4));
    }

    @Test
    void completionsArriveInPostingOrder() {
        if (!can(Capability.ORDERED_COMPLETIONS)) {
            return;
        }
        for (Way way : bothWays(connected())) {
            EndMemory local = way.from().allocate(1 << 16, everything());
            EndMemory target = way.to().allocate(1 << 16, everything());
            for (int round = 0; round < Amount.onLine(20, 2); round++) {
                List<Work> works = new ArrayList<>();
                for (int i = 0; i < 50; i++) {
                    int size = i % 5 == 0 ? 1 << 16 : 8;
                    works.add(
                            switch (i % 4) {
                                case 0 -> Work.read(i, target.remote(), local.piece(0, size));
                                case 1 -> Work.write(i, target.remote(), local.piece(0, size));
                                case 2 -> Work.fetchAndAdd(i, target.remote(), 1, local.piece(0, 8));
                                default -> Work.send(i);
                            });
                    if (i % 4 == 3) {
                        way.target().receive(1000 + i);
                    }
                }
                way.source().postAll(works);
                List<Outcome> outcomes = way.source().drain(50);
                for (int i = 0; i < 50; i++) {
                    assertThat(outcomes.get(i).id()).isEqualTo(i);
                }
                way.target().drain(12);
            }
        }
    }

    @Test
    void theDataOfACompletionIsVisible() {
        int bytes = 4096;
        Pair pair = connected();
        EndMemory source = there().allocate(bytes, everything());
        LocalMemory target = here().allocate(bytes, everything());
        for (int i = 1; i <= Amount.onLine(500, 50); i++) {
            source.fill(i);
            pair.here().receive(i, target.piece(0, bytes));
            pair.there().post(Work.send(i, source.piece(0, bytes)));
            pair.here().one();
            assertThat(mismatch(target.segment(), i)).isEqualTo(-1);
            pair.there().one();
        }
    }
}
