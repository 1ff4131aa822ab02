package io.rdmacomm.tests.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.tests.fixture.Amount;
import io.rdmacomm.tests.fixture.ContractCase;
import io.rdmacomm.tests.fixture.Deviation;
import io.rdmacomm.tests.fixture.EndMemory;
import io.rdmacomm.tests.fixture.LocalMemory;
import io.rdmacomm.tests.fixture.Outcome;
import io.rdmacomm.tests.fixture.Piece;
import io.rdmacomm.tests.fixture.Spec;
import io.rdmacomm.tests.fixture.Work;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.DeviceLimit;
import io.rdmacomm.verbs.RemoteMemory;
import io.rdmacomm.verbs.WorkStatus;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Random work on one queue pair, compared with a model of the peer's memory.
class SoakTest extends ContractCase {
    private static final int REMOTE = 1 << 16;
    private static final int SLOT = 8192;
    private static final int SLOTS = 32;
    private static final int RECEIVE = 4096;
    private static final int PIECES = 4;

    /// A request in flight, and the expected content of its slot if it returns data.
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Pending(long id, int slot, byte[] expected) {}

    @Test
    void aThousandRandomRequestsAgreeWithTheModel() {
        soak(Amount.onLine(Amount.of(3000, 600), 200), false);
        soak(Amount.onLine(Amount.of(1000, 200), 100), true);
    }

    @Test
    @Tag("slow")
    @Timeout(600)
    void aHundredThousandRandomRequestsAgreeWithTheModel() {
        soak(Amount.onLine(Amount.of(100_000, 3000), 1000), false);
        soak(Amount.onLine(Amount.of(20_000, 1000), 300), true);
    }

    private void soak(int count, boolean ownSegments) {
        long seed = System.nanoTime();
        System.out.println("SoakTest: " + fabric + ", seed " + seed);
        Pair pair = connected(Spec.usual().withCompletions(1024));
        LocalMemory local = here().allocate((long) SLOT * SLOTS, everything());
        EndMemory remote =
                ownSegments ? there().register(REMOTE, everything()) : there().allocate(REMOTE, everything());
        EndMemory inbox = there().allocate((long) RECEIVE * SLOTS, everything());
        new Run(pair, local, remote, inbox, new Random(seed)).go(count);
        pair.here().close();
        pair.there().close();
    }

    /// One sequence of requests and the model of the peer's memory.
    private final class Run {
        private final Pair pair;
        private final LocalMemory local;
        private final EndMemory remote;
        private final RemoteMemory to;
        private final EndMemory inbox;
        private final Random random;
        private final boolean fences = can(Capability.FENCED_READ) && !has(Deviation.FENCE_WAITS_FOR_WHAT_FOLLOWS);
        private final boolean atomics = can(Capability.ATOMICS);
        private final boolean shortReads = can(Capability.SHORT_READ_ACROSS_PAGES);
        private final boolean receivesFirst = has(Deviation.NO_RECEIVE_ENDS_THE_CONNECTION);
        private final int readPieces =
                (int) Math.min(PIECES, here().context().attributes().limit(DeviceLimit.MAX_SGE_READ));
        private final byte[] model = new byte[REMOTE];
        private final ByteBuffer words = ByteBuffer.wrap(model).order(ByteOrder.nativeOrder());
        private final Deque<Pending> pending = new ArrayDeque<>();
        private final List<byte[]> sent = new ArrayList<>();
        private int receivesPosted;
        private boolean reading;
        private int received;

        Run(Pair pair, LocalMemory local, EndMemory remote, EndMemory inbox, Random random) {
            this.pair = pair;
            this.local = local;
            this.remote = remote;
            this.to = remote.remote();
            this.inbox = inbox;
            this.random = random;
        }

        void go(int count) {
            for (int i = 0; i < count; i++) {
                if (pending.size() == SLOTS) {
                    finishOne();
                }
                post(i, i % SLOTS);
                if (i % 500 == 499) {
                    settle();
                }
            }
            settle();
        }

        private void post(long id, int slot) {
            int bytes = random.nextInt(10) == 0 ? random.nextInt(SLOT) : random.nextInt(200);
            int offset = random.nextInt(REMOTE - bytes);
            int word = random.nextInt(REMOTE / 8) * 8;
            byte[] payload = new byte[bytes];
            random.nextBytes(payload);
            switch (random.nextInt(atomics ? 6 : 4)) {
                case 0, 1 -> write(id, slot, offset, payload);
                case 2 -> {
                    int read = shortReads || bytes > 32 ? bytes : Math.min(bytes, bytesOfPage(offset));
                    byte[] expected = Arrays.copyOfRange(model, offset, offset + read);
                    post(Work.read(id, to.slice(offset, read), pieces(slot, read, readPieces)));
                    reading = true;
                    pending.add(new Pending(id, slot, expected));
                }
                case 3 -> send(id, slot, Arrays.copyOf(payload, Math.min(bytes, RECEIVE)));
                case 4 -> {
                    long old = words.getLong(word);
                    long addend = random.nextLong();
                    words.putLong(word, old + addend);
                    post(Work.fetchAndAdd(id, to.slice(word, 8), addend, piece(slot, 0, 8)));
                    pending.add(new Pending(id, slot, bytesOf(old)));
                }
                default -> {
                    long old = words.getLong(word);
                    long expected = random.nextBoolean() ? old : random.nextLong();
                    long value = random.nextLong();
                    words.putLong(word, old == expected ? value : old);
                    post(Work.compareAndSwap(id, to.slice(word, 8), expected, value, piece(slot, 0, 8)));
                    pending.add(new Pending(id, slot, bytesOf(old)));
                }
            }
        }

        /// The number of bytes of the peer's memory from `offset` to the end of the page.
        private int bytesOfPage(int offset) {
            return 4096 - (int) (to.address() + offset & 4095);
        }

        /// A request after a READ may overtake it, unless it is fenced (IBTA 10.8.3.3); the model has one order.
        /// Where a fence cannot be relied on, or a READ cannot be fenced, the READ is waited for.
        private void post(Work work) {
            if (reading && !fences) {
                finishAll();
            }
            pair.here().post(reading && fences ? work.fenced() : work);
            reading = false;
        }

        private void finishAll() {
            while (!pending.isEmpty()) {
                finishOne();
            }
        }

        private void write(long id, int slot, int offset, byte[] payload) {
            local.write((long) slot * SLOT, payload);
            System.arraycopy(payload, 0, model, offset, payload.length);
            Work work = Work.write(id, to.slice(offset, payload.length), pieces(slot, payload.length, PIECES));
            post(payload.length <= 64 && random.nextBoolean() ? work.inline() : work);
            pending.add(new Pending(id, slot, payload));
        }

        private void send(long id, int slot, byte[] payload) {
            if (sent.size() - received == SLOTS) {
                receiveAll();
            }
            if (receivesFirst || random.nextBoolean()) {
                // Sometimes the receive is posted first, sometimes the message is sent first, if the device allows
                // that.
                postReceives(sent.size() + 1);
            }
            local.write((long) slot * SLOT, payload);
            post(Work.send(id, pieces(slot, payload.length, PIECES)));
            sent.add(payload);
            postReceives(sent.size());
            pending.add(new Pending(id, slot, payload));
        }

        private void postReceives(int upTo) {
            while (receivesPosted < upTo) {
                pair.there().receive(receivesPosted, inbox.piece((long) receivesPosted % SLOTS * RECEIVE, RECEIVE));
                receivesPosted++;
            }
        }

        private Piece piece(int slot, int offset, int length) {
            return local.piece((long) slot * SLOT + offset, length);
        }

        /// The slot's first bytes in one to `most` pieces.
        private Piece[] pieces(int slot, int bytes, int most) {
            List<Piece> pieces = new ArrayList<>();
            int at = 0;
            while (at < bytes && pieces.size() < most - 1) {
                int length = 1 + random.nextInt(bytes - at);
                pieces.add(piece(slot, at, length));
                at += length;
            }
            pieces.add(piece(slot, at, bytes - at));
            return pieces.toArray(Piece[]::new);
        }

        private static byte[] bytesOf(long value) {
            return ByteBuffer.allocate(8)
                    .order(ByteOrder.nativeOrder())
                    .putLong(value)
                    .array();
        }

        private void finishOne() {
            Outcome outcome = pair.here().one();
            Pending done = pending.remove();
            assertThat(outcome.status()).isEqualTo(WorkStatus.SUCCESS);
            assertThat(outcome.id()).isEqualTo(done.id());
            assertThat(local.read((long) done.slot() * SLOT, done.expected().length))
                    .isEqualTo(done.expected());
        }

        private void receiveAll() {
            int count = sent.size() - received;
            for (Outcome outcome : pair.there().drain(count)) {
                byte[] expected = sent.get(received);
                assertThat(outcome.status()).isEqualTo(WorkStatus.SUCCESS);
                assertThat(outcome.id()).isEqualTo(received);
                assertThat(outcome.bytes()).isEqualTo(expected.length);
                assertThat(inbox.read((long) received % SLOTS * RECEIVE, expected.length))
                        .isEqualTo(expected);
                received++;
            }
        }

        private void settle() {
            finishAll();
            receiveAll();
            // The peer's memory equals the model.
            arrived(remote, 0, model);
        }
    }
}
