package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.soft.mapped.ControlLayout;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.QueuePairAttributes;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.WorkStatus;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Words in shared memory that no correct process writes: a process that meets them fails its own queue pair. No
/// call hangs or throws what it does not document.
class HostileMemoryTest {
    private static final int MASK = 0;
    private static final int NEXT_OR_ELEMENTS = 8;
    private static final int STRIDE = 12;
    private static final int LINES = 32;
    private static final int PLAIN = 40;
    private static final int TAIL = 64;
    private static final int HEAD = 128;
    private static final int CLAIMED = 136;
    private static final int NEXT = 144;
    private static final int SEALED = 3;
    private static final int POSITION_SHIFT = 20;

    private final AddressEnd victim = new AddressEnd();
    private final AddressEnd hostile = new AddressEnd();
    private final ForeignHand theirs = new ForeignHand(hostile.context);
    private final ForeignHand own = new ForeignHand(victim.context);

    private final ConnectionOptions impatient = hasty(ConnectionOptions.defaults());

    private static ConnectionOptions hasty(ConnectionOptions options) {
        return options.withTimeout(Duration.ofMillis(4), 1)
                .withRetries(options.retries().withReceiverNotReady(1, Duration.ofMillis(1)));
    }

    @BeforeEach
    void connectPeer() {
        hostile.pair.connect(victim.pair.info(), impatient);
        hostile.receive(1, 64);
    }

    /// Messages to the hostile side complete in the ring of its completion queue.
    private void useRing() {
        hostile.shareReceives();
        connectPeer();
    }

    private void connect() {
        victim.pair.connect(hostile.pair.info(), impatient);
    }

    @AfterEach
    void close() {
        theirs.close();
        own.close();
        inTime(() -> {
            victim.close();
            hostile.close();
            return null;
        });
    }

    private static <T> T inTime(Callable<T> call) {
        try {
            return AddressEnd.async(call).get(AddressEnd.LONG.toSeconds(), TimeUnit.SECONDS);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private void send(long workId) {
        inTime(() -> victim.pair.post(
                victim.batch().send(workId).with(victim.region, 0, 8).signaled()));
    }

    private void sendSucceeds() {
        if (victim.pair.state() == QueuePairState.RESET) {
            connect();
        }
        send(100);
        victim.succeeded(100);
        hostile.succeeded(1);
        hostile.receive(1, 64);
    }

    /// The next message fails, and the queue pair with it. It is the first one if nothing was sent before.
    private void sendFails() {
        if (victim.pair.state() == QueuePairState.RESET) {
            connect();
        }
        send(2);
        assertThat(victim.next().status()).isNotEqualTo(WorkStatus.SUCCESS);
        victim.await(() -> victim.pair.state() == QueuePairState.ERROR);
    }

    static LongStream badOffsets() {
        return LongStream.of(
                0,
                1,
                ControlLayout.HEAP + 4,
                ControlLayout.HEAP + 8,
                ControlLayout.FILE_BYTES - 64,
                -64,
                Long.MIN_VALUE);
    }

    @ParameterizedTest
    @MethodSource("badOffsets")
    void aReceiveRingInTheWrongPlace(long offset) {
        theirs.set(theirs.block(hostile.pair) + ControlLayout.QP_RECEIVE_RING, offset);
        sendFails();
    }

    @ParameterizedTest
    @MethodSource("badOffsets")
    void aCompletionQueueInTheWrongPlace(long offset) {
        theirs.set(theirs.block(hostile.pair) + ControlLayout.QP_RECEIVE_COMPLETIONS, offset);
        sendFails();
    }

    @ParameterizedTest
    @MethodSource("badOffsets")
    void aCompletionRingInTheWrongPlace(long offset) {
        useRing();
        sendSucceeds();
        theirs.set(theirs.completions(hostile.pair), offset);
        sendFails();
    }

    @ParameterizedTest
    @ValueSource(longs = {-1, 5, Long.MAX_VALUE, Long.MIN_VALUE, (1L << 40) - 1})
    void aReceiveRingOfAnImpossibleSize(long mask) {
        theirs.set(theirs.receives(hostile.pair) + MASK, mask);
        sendFails();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -64, 12, 16, Integer.MAX_VALUE})
    void receivesOfAnImpossibleSize(int stride) {
        theirs.setInt(theirs.receives(hostile.pair) + STRIDE, stride);
        sendFails();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, 33, Integer.MAX_VALUE})
    void receivesOfTooManyElements(int elements) {
        theirs.setInt(theirs.receives(hostile.pair) + NEXT_OR_ELEMENTS, elements);
        sendFails();
    }

    @ParameterizedTest
    @ValueSource(longs = {-1, 5, Long.MAX_VALUE, Long.MIN_VALUE, (1L << 40) - 1})
    void aCompletionRingOfAnImpossibleSize(long mask) {
        useRing();
        theirs.set(theirs.ring(hostile.pair) + MASK, mask);
        sendFails();
    }

    @ParameterizedTest
    @ValueSource(longs = {1L << 43, (1L << 43) - 1, 1L << 42, 1L << 30})
    void aSlotThatIsFarAhead(long ahead) {
        useRing();
        sendSucceeds();
        theirs.set(theirs.slotAtTail(hostile.pair), ahead << POSITION_SHIFT);
        sendFails();
    }

    @Test
    void aTailThatIsFarBehind() {
        useRing();
        sendSucceeds();
        theirs.set(theirs.ring(hostile.pair) + TAIL, -(1L << 42));
        sendSucceeds();
    }

    @Test
    void aTailThatIsFarAhead() {
        useRing();
        sendSucceeds();
        theirs.set(theirs.ring(hostile.pair) + TAIL, 1L << 42);
        sendFails();
    }

    @Test
    void aSealWithoutAnotherRing() {
        useRing();
        sendSucceeds();
        long slot = theirs.slotAtTail(hostile.pair);
        theirs.set(slot, theirs.get(slot) | SEALED);
        sendFails();
    }

    @Test
    void aRequestThatWaitsMeetsAMisplacedCompletionRing() {
        useRing();
        sendSucceeds();
        inTime(() -> {
            hostile.pair.modify(new QueuePairAttributes().state(QueuePairState.ERROR));
            return null;
        });
        victim.renew();
        hostile.shareReceives();
        ConnectionOptions patient = ConnectionOptions.defaults().withTimeout(Duration.ofSeconds(20), 7);
        hostile.pair.connect(victim.pair.info(), patient);
        victim.pair.connect(hostile.pair.info(), patient);
        // No receive is there: the engine tries again.
        send(2);
        theirs.set(theirs.completions(hostile.pair), ControlLayout.HEAP + 4);
        hostile.receive(1, 64);
        assertThat(victim.next().status()).isNotEqualTo(WorkStatus.SUCCESS);
    }

    @Test
    void whatWasCheckedOnceIsNotReadAgain() {
        useRing();
        sendSucceeds();
        theirs.set(theirs.ring(hostile.pair) + MASK, -1);
        theirs.set(theirs.receives(hostile.pair) + MASK, -1);
        theirs.set(theirs.receives(hostile.pair) + NEXT_OR_ELEMENTS, -1);
        theirs.set(theirs.block(hostile.pair) + ControlLayout.QP_RECEIVE_RING, 4);
        theirs.set(theirs.block(hostile.pair) + ControlLayout.QP_RECEIVE_COMPLETIONS, 4);
        sendSucceeds();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 1000, 1L << 62, Long.MIN_VALUE, -1})
    void aHeadBeyondTheTailEndsAFlush(long head) {
        connect();
        victim.receive(1, 64);
        own.set(own.receives(victim.pair) + HEAD, 1 + head);
        inTime(() -> {
            victim.pair.modify(new QueuePairAttributes().state(QueuePairState.ERROR));
            return null;
        });
        assertThat(victim.pair.state()).isEqualTo(QueuePairState.ERROR);
    }

    @ParameterizedTest
    @ValueSource(longs = {1L << 62, -1})
    void aHeadBeyondTheTailEndsAReset(long head) {
        connect();
        victim.receive(1, 64);
        own.set(own.receives(victim.pair) + HEAD, 1 + head);
        inTime(() -> {
            victim.pair.modify(new QueuePairAttributes().state(QueuePairState.RESET));
            return null;
        });
        assertThat(victim.pair.state()).isEqualTo(QueuePairState.RESET);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 5, -1, Long.MAX_VALUE})
    void anOwnCounterThatSaysBusyDoesNotKeepMemoryFromBeingClosed(long counter) {
        sendSucceeds();
        MemoryRegion region = victim.domain.allocate(64, AccessFlag.allRemote());
        own.set(own.block(victim.pair) + ControlLayout.QP_EXECUTING, counter);
        inTime(() -> {
            region.close();
            return null;
        });
        sendSucceeds();
    }

    @ParameterizedTest
    @MethodSource("badOffsets")
    void ownCompletionRingsInTheWrongPlace(long offset) {
        connect();
        victim.queue.resize(64);
        long newest = own.ring(victim.pair);
        own.set(newest + NEXT_OR_ELEMENTS, offset);
        own.set(newest + MASK, offset);
        own.set(own.slotAtTail(victim.pair), SEALED);
        own.set(own.completions(victim.pair), offset);
        try (Arena arena = Arena.ofShared()) {
            Completions done = Completions.create(arena, 8);
            inTime(() -> {
                polled(done);
                victim.queue.capacity();
                resized();
                polled(done);
                return null;
            });
        }
        send(2);
    }

    @ParameterizedTest
    @ValueSource(longs = {Long.MIN_VALUE, -1, 1L << 40, Long.MAX_VALUE})
    void anOwnTailThatIsFarAwayEndsAResize(long tail) {
        own.set(own.ring(victim.pair) + TAIL, tail);
        inTime(() -> {
            resized();
            return null;
        });
    }

    /// The number of completions is not defined then; an overrun is the only error.
    private void polled(Completions done) {
        try {
            assertThat(victim.queue.poll(done)).isBetween(0, 8);
        } catch (VerbException e) {
            assertThat(e).hasMessageContaining("overran");
        }
    }

    private void resized() {
        try {
            victim.queue.resize(32);
        } catch (VerbException e) {
            assertThat(e).hasMessageContaining("poll them first");
        }
    }

    // ---- Lines ----

    private void sendLong(long workId) {
        inTime(() -> victim.pair.post(
                victim.batch().send(workId).with(victim.region, 0, 60).signaled()));
    }

    /// A message that is only counted as received may have arrived anywhere.
    private void ends(long workId) {
        AddressEnd.Done end = victim.next();
        assertThat(end.workId()).isEqualTo(workId);
    }

    @ParameterizedTest
    @MethodSource("badOffsets")
    void linesInTheWrongPlace(long offset) {
        theirs.set(theirs.receives(hostile.pair) + LINES, offset);
        connect();
        send(2);
        ends(2);
        sendLong(3);
        ends(3);
    }

    @ParameterizedTest
    @ValueSource(longs = {Long.MIN_VALUE, -1, 1L << 40, Long.MAX_VALUE - 1, Long.MAX_VALUE})
    void aNextLineThatIsFarAway(long position) {
        theirs.set(theirs.receives(hostile.pair) + NEXT, position);
        connect();
        send(2);
        ends(2);
    }

    @ParameterizedTest
    @ValueSource(longs = {Long.MIN_VALUE, -1, 77, Long.MAX_VALUE})
    void aReceiveThatIsClaimedAlready(long claimed) {
        sendSucceeds();
        theirs.set(theirs.receives(hostile.pair) + CLAIMED, claimed);
        sendLong(2);
        assertThat(victim.next().status()).isNotEqualTo(WorkStatus.SUCCESS);
        victim.await(() -> victim.pair.state() == QueuePairState.ERROR);
    }

    @ParameterizedTest
    @ValueSource(longs = {Long.MIN_VALUE, -1, 1L << 40, Long.MAX_VALUE})
    void aPlainPositionThatIsFarAway(long position) {
        sendSucceeds();
        theirs.set(theirs.receives(hostile.pair) + PLAIN, position);
        sendSucceeds();
    }

    /// What a line says of a message is not known then, but the receive ends, and once.
    @ParameterizedTest
    @ValueSource(longs = {0, -1, Long.MIN_VALUE, 1L << 56, (1L << 56) + Integer.MAX_VALUE, (1L << 56) - 1})
    void aLineWithWrongNumbers(long length) {
        connect();
        victim.receive(77, 64);
        long line = own.get(own.receives(victim.pair) + LINES);
        own.set(line + 8, length);
        own.set(line + 16, length);
        own.set(line, 1);
        AddressEnd.Done end = victim.next();
        assertThat(end.workId()).isEqualTo(77);
        assertThat(end.receive() ? end.bytes() : 0).isLessThanOrEqualTo(0xffff_ffffL);
        assertThat(victim.isQuiet()).isTrue();
    }

    @Test
    void aLineForAReceiveThatWasNotPosted() {
        connect();
        long line = own.get(own.receives(victim.pair) + LINES);
        for (long i = 0; i < 8; i++) {
            own.set(line + 64 * i, i + 1);
        }
        assertThat(victim.isQuiet()).isTrue();
        victim.receive(1, 64);
        victim.receive(2, 64);
        assertThat(victim.next().workId()).isEqualTo(1);
        assertThat(victim.next().workId()).isEqualTo(2);
        assertThat(victim.isQuiet()).isTrue();
        inTime(() -> {
            victim.pair.modify(new QueuePairAttributes().state(QueuePairState.ERROR));
            return null;
        });
        assertThat(victim.isQuiet()).isTrue();
    }

    /// The receive itself is in shared memory, too.
    @ParameterizedTest
    @ValueSource(longs = {0, -1, Long.MIN_VALUE, 1})
    void aReceiveThatNamesOtherMemory(long address) {
        connect();
        victim.receive(1, 64);
        long ring = own.receives(victim.pair);
        own.set(ring + 256 + 24, address);
        long line = own.get(ring + LINES);
        own.set(line + 8, 8 | 1L << 56);
        own.set(line, 1);
        assertThat(victim.next().status()).isEqualTo(WorkStatus.LOCAL_PROTECTION_ERROR);
    }

    @Test
    void linesThatAreAllFullEndAFlush() {
        connect();
        long line = own.get(own.receives(victim.pair) + LINES);
        long lines = own.get(own.receives(victim.pair) + MASK) + 1;
        for (long i = 0; i < lines; i++) {
            own.set(line + 64 * i, i + 1);
        }
        victim.receive(1, 64);
        inTime(() -> {
            victim.pair.modify(new QueuePairAttributes().state(QueuePairState.ERROR));
            return null;
        });
        assertThat(victim.next().workId()).isEqualTo(1);
        victim.receive(2, 64);
        assertThat(victim.next().status()).isEqualTo(WorkStatus.FLUSHED);
        assertThat(victim.isQuiet()).isTrue();
    }
}
