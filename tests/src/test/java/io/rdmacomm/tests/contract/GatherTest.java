package io.rdmacomm.tests.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdmacomm.tests.fixture.Amount;
import io.rdmacomm.tests.fixture.ContractCase;
import io.rdmacomm.tests.fixture.Deviation;
import io.rdmacomm.tests.fixture.EndMemory;
import io.rdmacomm.tests.fixture.Piece;
import io.rdmacomm.tests.fixture.Spec;
import io.rdmacomm.tests.fixture.Work;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.CompletionOpcode;
import io.rdmacomm.verbs.DeviceLimit;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.WorkRequestException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/// Scatter/gather lists and inline payload.
class GatherTest extends ContractCase {
    private static final int PIECE = 100;

    private int most() {
        return (int) here().context().attributes().limit(DeviceLimit.MAX_SGE);
    }

    /// `count` pieces of different lengths in random order, and their bytes in that order.
    private record Scattered(List<Piece> pieces, List<Integer> places, int bytes) {
        static Scattered of(EndMemory memory, int count, Random random) {
            List<Integer> places = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                places.add(i);
            }
            Collections.shuffle(places, random);
            List<Piece> pieces = new ArrayList<>();
            int bytes = 0;
            for (int place : places) {
                int length = 1 + place * 7 % PIECE;
                pieces.add(memory.piece((long) place * PIECE, length));
                bytes += length;
            }
            return new Scattered(pieces, places, bytes);
        }

        byte[] contents(EndMemory memory) {
            byte[] all = new byte[bytes];
            int at = 0;
            for (int place : places) {
                int length = 1 + place * 7 % PIECE;
                System.arraycopy(memory.read((long) place * PIECE, length), 0, all, at, length);
                at += length;
            }
            return all;
        }
    }

    /// A batch holds requests of no, one, two and three elements in each order, and parts of it are posted at a time.
    @Test
    void requestsOfEachShapeShareABatch() {
        Pair pair = connected(Spec.usual().withElements(3));
        EndMemory target = there().allocate(3 * 24, everything());
        EndMemory source = here().allocate(24, everything());
        source.write(0, pattern(24, 9));
        SendBatch batch = SendBatch.create(here().arena(), 3, 3);
        for (int shapes = 0; shapes < 4 * 4 * 4; shapes++) {
            int[] counts = {shapes % 4, shapes / 4 % 4, shapes / 16};
            target.fill(0);
            batch.clear();
            for (int i = 0; i < 3; i++) {
                batch.write(i, target.remote().slice(24L * i, 24));
                for (int j = 0; j < counts[i]; j++) {
                    Piece piece = source.piece(8L * j, 8);
                    batch.with(piece.address(), piece.length(), piece.key());
                }
                batch.signaled();
            }
            assertThat(pair.here().queuePair().post(batch, 0, 1 + shapes % 2)).isEqualTo(1 + shapes % 2);
            assertThat(pair.here().queuePair().post(batch, 1 + shapes % 2)).isEqualTo(2 - shapes % 2);
            for (int i = 0; i < 3; i++) {
                good(pair.here().one(), i, CompletionOpcode.WRITE);
            }
            for (int i = 0; i < 3; i++) {
                arrived(target, 24L * i, source.read(0, 8 * counts[i]));
                int rest = 24 - 8 * counts[i];
                assertThat(target.read(24L * (i + 1) - rest, rest)).isEqualTo(new byte[rest]);
            }
        }
    }

    @Test
    void gathersAndScattersListsOfEveryLengthInOrder() {
        long seed = System.nanoTime();
        System.out.println("GatherTest: seed " + seed);
        Random random = new Random(seed);
        int most = most();
        for (Way way : bothWays(connected(Spec.usual().withElements(most)))) {
            EndMemory source = way.from().allocate((long) most * PIECE, everything());
            EndMemory target = way.to().allocate((long) most * PIECE, everything());
            source.write(0, pattern(most * PIECE, 5));
            for (int count = 1; count <= most; count = count < 4 ? count + 1 : Math.min(most, count * 2)) {
                Scattered from = Scattered.of(source, count, random);
                Scattered into = Scattered.of(target, count, random);
                target.fill(0);
                way.target().postReceive(count, into.pieces());
                way.source().post(Work.send(count, from.pieces().toArray(Piece[]::new)));
                good(way.source().one(), count, CompletionOpcode.SEND);
                assertThat(good(way.target().one(), count, CompletionOpcode.RECEIVE)
                                .bytes())
                        .isEqualTo(from.bytes());
                assertThat(into.contents(target)).isEqualTo(from.contents(source));
                if (count == most) {
                    break;
                }
            }
        }
    }

    @Test
    void writeGathersAndReadScatters() {
        Random random = new Random(1);
        int most = most();
        int reading = (int) here().context().attributes().limit(DeviceLimit.MAX_SGE_READ);
        for (Way way : bothWays(connected(Spec.usual().withElements(most)))) {
            EndMemory local = way.from().allocate((long) most * PIECE, everything());
            EndMemory remote = way.to().allocate((long) most * PIECE, everything());
            local.write(0, pattern(most * PIECE, 9));
            Scattered pieces = Scattered.of(local, most, random);
            way.source().post(Work.write(1, remote.remote(), pieces.pieces().toArray(Piece[]::new)));
            good(way.source().one(), 1, CompletionOpcode.WRITE);
            arrived(remote, 0, pieces.contents(local));

            local.fill(0);
            Scattered into = Scattered.of(local, Math.min(most, reading), random);
            way.source().post(Work.read(2, remote.remote(), into.pieces().toArray(Piece[]::new)));
            assertThat(good(way.source().one(), 2, CompletionOpcode.READ).bytes())
                    .isEqualTo(into.bytes());
            assertThat(into.contents(local)).isEqualTo(remote.read(0, into.bytes()));
        }
    }

    @Test
    void rejectsAReadWithMoreElementsThanTheDeviceSupports() {
        int most = most();
        int reading = (int) here().context().attributes().limit(DeviceLimit.MAX_SGE_READ);
        Pair pair = connected(Spec.usual().withElements(most));
        EndMemory local = here().allocate((long) most * PIECE, everything());
        EndMemory remote = there().allocate((long) most * PIECE, everything());
        Scattered pieces = Scattered.of(local, most, new Random(2));
        Work read = Work.read(1, remote.remote(), pieces.pieces().toArray(Piece[]::new));
        if (reading < most) {
            assertThatThrownBy(() -> pair.here().post(read))
                    .isInstanceOf(WorkRequestException.class)
                    .hasMessageContaining("READ");
        } else {
            pair.here().post(read);
            good(pair.here().one(), 1, CompletionOpcode.READ);
        }
    }

    @Test
    void skipsEmptyElementsWithoutCheckingThem() {
        for (Way way : bothWays(connected())) {
            EndMemory source = way.from().allocate(64, everything());
            EndMemory target = way.to().allocate(64, everything());
            source.write(0, pattern(64, 2));
            Piece nowhere = new Piece(0x10, 0, 0xbad);
            way.target().receive(1, nowhere, target.piece(0, 5), nowhere, target.piece(10, 5));
            if (can(Capability.EMPTY_ELEMENTS)) {
                way.source().post(Work.send(2, source.piece(0, 4), nowhere, source.piece(4, 6), nowhere));
            } else {
                rejectsSend(nowhere, source.piece(0, 10));
                way.source().post(Work.send(2, source.piece(0, 4), source.piece(4, 6), nowhere));
            }
            good(way.source().one(), 2, CompletionOpcode.SEND);
            good(way.target().one(), 1, CompletionOpcode.RECEIVE);
            assertThat(target.read(0, 5)).isEqualTo(source.read(0, 5));
            assertThat(target.read(10, 5)).isEqualTo(source.read(5, 5));
        }
    }

    private void rejectsSend(Piece... pieces) {
        Pair other = connected();
        assertThatThrownBy(() -> other.here().post(Work.send(1, pieces)))
                .isInstanceOf(WorkRequestException.class)
                .hasMessageContaining("an element of length 0 in front of another");
        other.there().receive(3);
        other.here().post(Work.send(2));
        good(other.here().one(), 2, CompletionOpcode.SEND);
    }

    @Test
    void rejectsAListThatIsTooLong() {
        Pair pair = connected(Spec.usual().withElements(2));
        EndMemory memory = here().allocate(64, everything());
        int allowed = pair.here().queuePair().sizes().sendElements();
        Piece[] tooMany = Collections.nCopies(allowed + 1, memory.piece(0, 1)).toArray(Piece[]::new);
        if (allowed <= 2) {
            assertThatThrownBy(() -> pair.here().post(Work.send(1, memory.piece(0, 1)), Work.send(2, tooMany)))
                    .isInstanceOfSatisfying(
                            WorkRequestException.class,
                            rejected -> assertThat(rejected.index()).isEqualTo(1));
            assertThatThrownBy(() -> pair.here().receive(3, tooMany)).isInstanceOf(WorkRequestException.class);
        }
    }

    @Test
    void inlinePayloadCanBeOverwrittenAtOnce() {
        int bytes = 64;
        for (Way way : bothWays(connected())) {
            EndMemory source = way.from().allocate(bytes, everything());
            EndMemory target = way.to().allocate(bytes * 2L, everything());
            for (int round = 0; round < Amount.onLine(50, 10); round++) {
                byte[] data = pattern(bytes, round);
                source.write(0, data);
                way.target().receive(round, target.piece(0, bytes));
                way.source()
                        .post(
                                Work.send(1000 + round, source.piece(0, 10), source.piece(10, bytes - 10))
                                        .inline(),
                                Work.write(2000 + round, target.remote().slice(bytes, bytes), source.piece(0, bytes))
                                        .inline());
                source.fill(0xEE);
                good(way.source().one(), 1000 + round, CompletionOpcode.SEND);
                good(way.source().one(), 2000 + round, CompletionOpcode.WRITE);
                good(way.target().one(), round, CompletionOpcode.RECEIVE);
                assertThat(target.read(0, bytes)).isEqualTo(data);
                arrived(target, bytes, data);
            }
        }
    }

    @Test
    void inlinePayloadKeepsItsContentUntilAReceiveIsPosted() {
        Pair pair = connected();
        EndMemory source = here().allocate(32, everything());
        EndMemory target = there().allocate(32, everything());
        source.write(0, pattern(32, 8));
        boolean waits = !has(Deviation.NO_RECEIVE_ENDS_THE_CONNECTION);
        if (!waits) {
            pair.there().receive(2, target.piece(0, 32));
        }
        pair.here().post(Work.send(1, source.piece(0, 32)).inline());
        source.fill(0);
        if (waits) {
            pair.there().receive(2, target.piece(0, 32));
        }
        good(pair.there().one(), 2, CompletionOpcode.RECEIVE);
        good(pair.here().one(), 1, CompletionOpcode.SEND);
        assertThat(target.read(0, 32)).isEqualTo(pattern(32, 8));
    }

    @Test
    void inlinePayloadNeedsNoRegisteredMemory() {
        Pair pair = connected();
        EndMemory target = there().allocate(16, everything());
        MemorySegment heap = MemorySegment.ofArray(pattern(16, 4));
        SendBatch batch = SendBatch.create(here().arena(), 1, 1, 32);
        batch.send(2).inline(heap, 0, 16).signaled();
        pair.there().receive(1, target.piece(0, 16));
        assertThat(pair.here().queuePair().post(batch)).isEqualTo(1);
        heap.fill((byte) 0);
        batch.clear().send(3).inline(heap, 0, 16);
        good(pair.here().one(), 2, CompletionOpcode.SEND);
        good(pair.there().one(), 1, CompletionOpcode.RECEIVE);
        assertThat(target.read(0, 16)).isEqualTo(pattern(16, 4));
    }

    @Test
    void acceptsInlinePayloadUpToTheGrantedSize() {
        // No device has less than siw: SIW_MAX_INLINE.
        int bytes = 80;
        Pair pair = connected(Spec.usual().withInline(bytes));
        int granted = pair.here().queuePair().sizes().inlineBytes();
        assertThat(granted).isGreaterThanOrEqualTo(bytes);
        EndMemory source = here().allocate(granted + 1, everything());
        EndMemory target = there().allocate(granted + 1, everything());
        source.write(0, pattern(granted, 6));
        pair.here()
                .post(Work.write(1, target.remote(), source.piece(0, granted)).inline());
        good(pair.here().one(), 1, CompletionOpcode.WRITE);
        arrived(target, 0, pattern(granted, 6));
        assertThatThrownBy(() -> pair.here()
                        .post(Work.write(2, target.remote(), source.piece(0, granted + 1))
                                .inline()))
                .isInstanceOf(WorkRequestException.class)
                .hasMessageContaining("inline");
    }
}
