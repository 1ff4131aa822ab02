package io.rdmacomm.soft.mapped;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.verbs.spi.ReceiveRequestLayout;
import io.rdmacomm.verbs.spi.RequestChain;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ReceiveRingTest {
    private RingFixture fixture;
    private Arena arena;
    private RequestChain receives;

    @BeforeEach
    void open() throws IOException {
        fixture = new RingFixture();
        arena = Arena.ofShared();
        long bytes = ReceiveRequestLayout.BYTES + 2L * ReceiveRequestLayout.ELEMENT_BYTES;
        receives = new RequestChain(arena.allocate(bytes, Long.BYTES), 1, ReceiveRequestLayout.BYTES, 2);
    }

    @AfterEach
    void close() throws IOException {
        arena.close();
        fixture.close();
    }

    private boolean post(ReceiveRing ring, long workId) {
        receives.segment().set(JAVA_LONG, ReceiveRequestLayout.WORK_ID, workId);
        receives.segment().set(JAVA_INT, ReceiveRequestLayout.ELEMENT_COUNT, 2);
        receives.put(0, 0, 0x1000, 10, 3);
        receives.put(0, 1, 0x2000, 20, 4);
        return post(ring);
    }

    private boolean post(ReceiveRing ring) {
        return ring.post(receives.segment(), receives.at(0), receives.elementsAt(0), false);
    }

    @Test
    void holdsAsManyAsItsDepth() throws IOException {
        ReceiveRing ring = ReceiveRing.create(fixture.control, 3, 2, 0, 1);
        assertThat(post(ring, 1)).isTrue();
        assertThat(post(ring, 2)).isTrue();
        assertThat(post(ring, 3)).isTrue();
        assertThat(post(ring, 4)).isFalse();
        assertThat(ring.size()).isEqualTo(3);
    }

    private @Nullable ReceiveTaker find(ReceiveRing ring, int lid, int number) {
        return ReceiveTaker.find(fixture.control.memory(), ring.offset(), lid, number);
    }

    @Test
    void isTakenByThePeerInOrder() throws IOException {
        ReceiveRing ring = ReceiveRing.create(fixture.control, 4, 2, 0, 9);
        ReceiveTaker peer = Objects.requireNonNull(find(ring, 1, 2));
        for (long i = 0; i < 20; i++) {
            post(ring, i);
            long head = peer.head();
            long entry = peer.entry(head);
            assertThat(peer.workId(entry)).isEqualTo(i);
            assertThat(peer.elementCount(entry)).isEqualTo(2);
            assertThat(peer.take(head)).isTrue();
            assertThat(peer.take(head)).isFalse();
        }
        assertThat(peer.domain()).isEqualTo(9);
    }

    /// A peer that has noted which receive it is about to take may have lost it to the owner.
    @Test
    void whatTheOwnerHasTakenBackIsNotTaken() throws IOException {
        ReceiveRing ring = ReceiveRing.create(fixture.control, 4, 2, 0, 1);
        ReceiveTaker peer = ring.taker();
        post(ring, 1);
        post(ring, 2);
        peer.take(0);
        ring.take(new long[1]);
        assertThat(ring.isTaken(0, 1, 2)).isTrue();
        assertThat(ring.isTaken(1, 1, 2)).isFalse();
        ring.clear();
        post(ring, 3);
        peer.take(2);
        assertThat(ring.isTaken(2, 1, 2)).isTrue();
    }

    @Test
    void aReceiveOfASharedQueueSaysWhoHasIt() throws IOException {
        ReceiveRing ring = ReceiveRing.create(fixture.control, 4, 2, 5, 1);
        ReceiveTaker one = Objects.requireNonNull(find(ring, 1, 2));
        ReceiveTaker other = Objects.requireNonNull(find(ring, 1, 3));
        for (long i = 0; i < 20; i++) {
            post(ring, i);
            assertThat(other.take(i)).isTrue();
            assertThat(one.take(i)).isFalse();
            assertThat(ring.isTaken(i, 1, 3)).isTrue();
            assertThat(ring.isTaken(i, 1, 2)).isFalse();
            assertThat(ring.isTaken(i, 4, 3)).isFalse();
        }
    }

    @Test
    void aTakerThatDiesHoldsNobodyUp() throws IOException {
        ReceiveRing ring = ReceiveRing.create(fixture.control, 4, 2, 5, 1);
        post(ring, 1);
        post(ring, 2);
        MemorySegment memory = fixture.control.memory();
        ReceiveTaker dead = Objects.requireNonNull(find(ring, 1, 2));
        dead.take(0);
        SharedWords.release(memory, ring.offset() + ReceiveRing.HEAD, 0);
        ReceiveTaker peer = Objects.requireNonNull(find(ring, 1, 3));
        assertThat(peer.take(peer.head())).isFalse();
        assertThat(peer.take(peer.head())).isTrue();
        assertThat(ring.isTaken(0, 1, 2)).isTrue();
        assertThat(ring.isTaken(1, 1, 3)).isTrue();
    }

    @Test
    void crossesItsLimitOnce() throws IOException {
        ReceiveRing ring = ReceiveRing.create(fixture.control, 8, 1, 5, 1);
        ReceiveTaker peer = ring.taker();
        receives.segment().set(JAVA_LONG, ReceiveRequestLayout.WORK_ID, 1);
        receives.segment().set(JAVA_INT, ReceiveRequestLayout.ELEMENT_COUNT, 0);
        for (int i = 0; i < 4; i++) {
            post(ring);
        }
        ring.armLimit(3);
        assertThat(peer.crossedLimit()).isFalse();
        long[] taken = new long[1];
        ring.take(taken);
        assertThat(peer.crossedLimit()).isFalse();
        ring.take(taken);
        assertThat(peer.crossedLimit()).isTrue();
        assertThat(peer.crossedLimit()).isFalse();
        assertThat(ring.limit()).isZero();
    }

    private static void takes(ReceiveTaker peer, long position, long workId) {
        assertThat(peer.head()).isEqualTo(position);
        assertThat(peer.tail()).isGreaterThan(position);
        long entry = peer.entry(position);
        assertThat(peer.workId(entry)).isEqualTo(workId);
        assertThat(peer.elementCount(entry)).isEqualTo(2);
        assertThat(peer.take(position)).isTrue();
        assertThat(peer.take(position)).isFalse();
    }

    private int postAll(ReceiveRing ring, long firstWorkId) {
        int count = 0;
        while (post(ring, firstWorkId + count)) {
            count++;
        }
        return count;
    }

    @Test
    void aSharedRingGrowsAndShrinksAndKeepsTheOrder() throws IOException {
        ReceiveRing ring = ReceiveRing.create(fixture.control, 4, 2, 5, 1);
        ReceiveTaker first = ring.taker();
        assertThat(postAll(ring, 0)).isEqualTo(4);
        takes(first, 0, 0);
        assertThat(ring.resize(8)).isTrue();
        assertThat(ring.resize(64)).as("twice, with no receive between").isTrue();
        assertThat(ring.depth()).isEqualTo(64);
        assertThat(postAll(ring, 4)).isEqualTo(61);
        ReceiveTaker late = Objects.requireNonNull(find(ring, 1, 2));
        for (long i = 1; i < 60; i++) {
            takes(i % 2 == 0 ? first : late, i, i);
        }
        assertThat(ring.resize(4)).as("5 are posted").isFalse();
        assertThat(ring.depth()).isEqualTo(64);
        assertThat(ring.resize(5)).isTrue();
        assertThat(post(ring, 99)).isFalse();
        takes(first, 60, 60);
        assertThat(postAll(ring, 65)).isEqualTo(1);
        assertThat(ring.resize(40)).as("there is memory for that").isTrue();
        assertThat(postAll(ring, 66)).isEqualTo(35);
        for (long i = 61; i < 101; i++) {
            takes(i % 2 == 0 ? first : late, i, i);
        }
        assertThat(ring.size()).isZero();
    }

    /// A peer may have read the position of a receive before the ring was resized, and die after it.
    @Test
    void aRingThatHasGrownKnowsWhoTookAnOldReceive() throws IOException {
        ReceiveRing ring = ReceiveRing.create(fixture.control, 2, 2, 5, 1);
        ReceiveTaker one = Objects.requireNonNull(find(ring, 1, 2));
        ReceiveTaker other = Objects.requireNonNull(find(ring, 1, 3));
        post(ring, 0);
        post(ring, 1);
        takes(one, 0, 0);
        ring.resize(32);
        post(ring, 2);
        takes(other, 1, 1);
        takes(other, 2, 2);
        assertThat(one.take(1)).as("lost to the other").isFalse();
        assertThat(one.take(2)).isFalse();
        assertThat(one.take(0)).as("long ago").isFalse();
        assertThat(ring.isTaken(0, 1, 2)).isTrue();
        assertThat(ring.isTaken(1, 1, 3)).isTrue();
        assertThat(ring.isTaken(2, 1, 3)).isTrue();
        assertThat(ring.isTaken(2, 1, 2)).isFalse();
    }

    @Test
    void whatAResizedRingNeedsIsFreedWithIt() throws IOException {
        long start = fixture.control.allocate(64);
        fixture.control.free(start, 64);
        ReceiveRing ring = ReceiveRing.create(fixture.control, 4, 2, 5, 1);
        for (int depth = 1; depth <= 1024; depth *= 2) {
            assertThat(ring.resize(depth)).isTrue();
        }
        ring.free();
        assertThat(fixture.control.allocate(8 << 20)).as("one hole").isEqualTo(start);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 4, 64, ControlLayout.HEAP + 4, ControlLayout.FILE_BYTES - 64, -64, Long.MIN_VALUE})
    void largerEntriesInTheWrongPlaceAreIgnored(long place) throws IOException {
        ReceiveRing ring = ReceiveRing.create(fixture.control, 4, 2, 5, 1);
        ReceiveTaker peer = Objects.requireNonNull(find(ring, 1, 2));
        SharedWords.release(fixture.control.memory(), ring.offset() + ReceiveRing.LARGER, place);
        post(ring, 7);
        takes(peer, 0, 7);
    }

    /// A chain of entries that leads back to its beginning, or to entries that are not larger.
    @ParameterizedTest
    @ValueSource(longs = {-1, 0, 1, 7, 15, 16, 1L << 40, Long.MAX_VALUE})
    void entriesThatAreNotLargerAreIgnored(long mask) throws IOException {
        MemorySegment memory = fixture.control.memory();
        ReceiveRing ring = ReceiveRing.create(fixture.control, 8, 2, 5, 1);
        ReceiveTaker peer = Objects.requireNonNull(find(ring, 1, 2));
        long fake = fixture.control.allocate(4096);
        memory.set(ValueLayout.JAVA_LONG, fake + ReceiveRing.MASK, mask);
        SharedWords.release(memory, fake + ReceiveRing.LARGER, ring.offset());
        SharedWords.release(memory, ring.offset() + ReceiveRing.LARGER, fake);
        post(ring, 7);
        takes(peer, 0, 7);
    }

    @Test
    void entriesThatLeadToThemselvesEndTheSearch() throws IOException {
        ReceiveRing ring = ReceiveRing.create(fixture.control, 8, 2, 5, 1);
        ReceiveTaker peer = Objects.requireNonNull(find(ring, 1, 2));
        ring.resize(64);
        MemorySegment memory = fixture.control.memory();
        long larger = SharedWords.acquire(memory, ring.offset() + ReceiveRing.LARGER);
        SharedWords.release(memory, larger + ReceiveRing.LARGER, larger);
        post(ring, 7);
        takes(peer, 0, 7);
    }

    @Test
    void takersFollowARingThatGrowsMeanwhile() throws Exception {
        ReceiveRing ring = ReceiveRing.create(fixture.control, 1, 2, 1, 1);
        eachReceiveGoesToOneTaker(ring, 20_000, posted -> {
            if (posted % 500 == 0) {
                ring.resize((int) (1 + posted / 100 % 4096));
            }
        });
    }

    @Test
    void givesEachReceiveToOneTaker() throws Exception {
        eachReceiveGoesToOneTaker(ReceiveRing.create(fixture.control, 256, 2, 1, 1), 40_000, _ -> {});
    }

    private interface Between {
        void posts(long posted) throws Exception;
    }

    private void eachReceiveGoesToOneTaker(ReceiveRing ring, long rounds, Between between) throws Exception {
        AtomicLong sum = new AtomicLong();
        AtomicLong count = new AtomicLong();
        Runnable taker = () -> {
            ReceiveTaker peer = ring.taker();
            while (count.get() < rounds) {
                long head = peer.head();
                if (head < peer.tail()) {
                    long workId = peer.workId(peer.entry(head));
                    if (peer.take(head)) {
                        sum.addAndGet(workId);
                        count.incrementAndGet();
                    }
                }
            }
        };
        Thread one = Thread.ofPlatform().start(taker);
        Thread other = Thread.ofPlatform().start(taker);
        for (long i = 0; i < rounds; ) {
            i += post(ring, i) ? 1 : 0;
            between.posts(i);
        }
        one.join();
        other.join();
        assertThat(count).hasValue(rounds);
        assertThat(sum).hasValue(rounds * (rounds - 1) / 2);
    }
}
