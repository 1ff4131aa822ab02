package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.soft.mapped.ControlLayout;
import io.rdmacomm.soft.shm.ShmMessage;
import io.rdmacomm.soft.shm.ShmPeer;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.MemoryWindow;
import io.rdmacomm.verbs.MemoryWindowType;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairAttributes;
import io.rdmacomm.verbs.QueuePairOptions;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// A process that has a connection asks the engine of its peer for more than its rights allow: to copy from and to
/// memory of the caller, which only the peer itself can access. The layout is drawn at `StagingBlock`.
class HostileStagingTest {
    private static final int BYTES = 64;
    private static final long SECRET = 0x5ec7e7L;
    private static final long FORGED = 0xbadL;

    /// State of a request.
    private static final int ASKED = 1;

    private static final int SERVED = 2;
    private static final int FINISHED = 3;
    private static final int REFUSED = 4;
    private static final int ABSENT = 5;

    enum Operation {
        WRITE(0),
        READ(1),
        COMPARE_AND_SWAP(2),
        FETCH_AND_ADD(3),
        DELIVER(4);

        final int code;

        Operation(int code) {
            this.code = code;
        }

        boolean reads() {
            return this == READ;
        }
    }

    private final Arena arena = Arena.ofShared();
    private final AddressEnd victim = new AddressEnd();
    private final AddressEnd hostile = new AddressEnd();
    private final SoftContext own = Soft.of(hostile.context);
    private final SoftContext theirs = Soft.of(victim.context);
    private final ForeignHand hand = new ForeignHand(victim.context);
    private ShmPeer connection;
    private long block;
    private long ticket;

    @BeforeEach
    void connect() throws IOException {
        hostile.pair.connect(victim.pair.info());
        victim.pair.connect(hostile.pair.info());
        connection = ShmPeer.connect(theirs.lid(), theirs.queryGid(1, 0), own.lid(), own.queryGid(1, 0));
        block = own.control().allocate(64 + 256 * 1024);
    }

    @AfterEach
    void close() {
        connection.close();
        hand.close();
        victim.close();
        hostile.close();
        arena.close();
    }

    private MemoryRegion memory(ProtectionDomain domain, Set<AccessFlag> rights) {
        MemorySegment segment = arena.allocate(BYTES, 8);
        segment.set(ValueLayout.JAVA_LONG, 0, SECRET);
        return domain.register(segment, rights);
    }

    private static Set<AccessFlag> allBut(Operation operation) {
        return operation == Operation.DELIVER
                ? Set.of(AccessFlag.REMOTE_READ)
                : operation == Operation.READ
                        ? Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_ATOMIC)
                        : operation == Operation.WRITE
                                ? Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_ATOMIC)
                                : Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
    }

    /// @return the state of the answer
    private int ask(Operation operation, QueuePair through, int key, long address, long length) {
        MemorySegment memory = own.control().memory();
        memory.set(ValueLayout.JAVA_INT, block + 8, key);
        memory.set(ValueLayout.JAVA_INT, block + 12, through.number());
        memory.set(ValueLayout.JAVA_LONG, block + 16, address);
        memory.set(ValueLayout.JAVA_LONG, block + 24, length);
        memory.set(ValueLayout.JAVA_LONG, block + 32, operation == Operation.COMPARE_AND_SWAP ? SECRET : 1);
        memory.set(ValueLayout.JAVA_LONG, block + 40, FORGED);
        memory.set(ValueLayout.JAVA_INT, block + 56, operation.code);
        memory.set(ValueLayout.JAVA_INT, block + 60, theirs.lid());
        memory.set(ValueLayout.JAVA_LONG, block + 64, operation.reads() ? 0 : FORGED);
        ValueLayout.JAVA_LONG.varHandle().setVolatile(memory, block, ++ticket * 8 + ASKED);
        connection.send(ShmMessage.STAGE, 0, own.lid(), block);
        victim.await(() -> state() != ASKED && state() != SERVED);
        return state();
    }

    private int state() {
        return (int) ((long) ValueLayout.JAVA_LONG
                        .varHandle()
                        .getVolatile(own.control().memory(), block)
                & 7);
    }

    private void refused(Operation operation, QueuePair through, MemoryRegion region) {
        refused(operation, through, region, region.remoteKey(), region.address(), Long.BYTES);
    }

    private void refused(
            Operation operation, QueuePair through, MemoryRegion region, int key, long address, long length) {
        assertThat(ask(operation, through, key, address, length)).isEqualTo(REFUSED);
        assertThat(region.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(SECRET);
        if (operation.reads()) {
            assertThat(own.control().memory().get(ValueLayout.JAVA_LONG, block + 64))
                    .isZero();
        }
    }

    @ParameterizedTest
    @EnumSource
    void whatIsAllowedIsDone(Operation operation) {
        MemoryRegion region = memory(victim.domain, AccessFlag.allRemote());
        assertThat(ask(operation, victim.pair, region.remoteKey(), region.address(), Long.BYTES))
                .isEqualTo(FINISHED);
        long expected = switch (operation) {
            case READ -> SECRET;
            case FETCH_AND_ADD -> SECRET + 1;
            case WRITE, COMPARE_AND_SWAP, DELIVER -> FORGED;
        };
        assertThat(region.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(expected);
    }

    @ParameterizedTest
    @EnumSource
    void aRightThatTheMemoryLacks(Operation operation) {
        refused(operation, victim.pair, memory(victim.domain, allBut(operation)));
    }

    /// It writes the right into the key table, which it has mapped.
    @ParameterizedTest
    @EnumSource
    void aRightThatItGrantsItself(Operation operation) {
        MemoryRegion region = memory(victim.domain, allBut(operation));
        hand.setInt(ControlLayout.key(region.remoteKey()) + ControlLayout.KEY_ACCESS, -1);
        refused(operation, victim.pair, region);
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "DELIVER")
    void aRightThatTheQueuePairLacks(Operation operation) {
        MemoryRegion region = memory(victim.domain, AccessFlag.allRemote());
        victim.pair.modify(new QueuePairAttributes().accessFlags(Set.of(AccessFlag.LOCAL_WRITE)));
        refused(operation, victim.pair, region);
    }

    @ParameterizedTest
    @EnumSource
    void memoryOfAnotherProtectionDomain(Operation operation) {
        refused(operation, victim.pair, memory(victim.context.allocateProtectionDomain(), AccessFlag.allRemote()));
    }

    @ParameterizedTest
    @EnumSource
    void aQueuePairThatIsConnectedToAnotherPeer(Operation operation) {
        try (AddressEnd other = new AddressEnd()) {
            QueuePair pair = victim.domain.createQueuePair(QueuePairOptions.reliable(victim.queue));
            pair.connect(other.pair.info());
            other.pair.connect(pair.info());
            MemoryRegion region = memory(victim.domain, AccessFlag.allRemote());
            assertThat(ask(operation, pair, region.remoteKey(), region.address(), Long.BYTES))
                    .isEqualTo(ABSENT);
            assertThat(region.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(SECRET);
        }
    }

    @ParameterizedTest
    @EnumSource
    void memoryBesideTheRegion(Operation operation) {
        MemoryRegion region = memory(victim.domain, AccessFlag.allRemote());
        int key = region.remoteKey();
        long end = region.address() + BYTES;
        refused(operation, victim.pair, region, key, end - 4, 8);
        refused(operation, victim.pair, region, key, end, 8);
        refused(operation, victim.pair, region, key, region.address() - 1, 8);
        refused(operation, victim.pair, region, key, Long.MAX_VALUE, 8);
        refused(operation, victim.pair, region, key, 0, 8);
        if (operation != Operation.COMPARE_AND_SWAP && operation != Operation.FETCH_AND_ADD) {
            refused(operation, victim.pair, region, key, region.address(), -1);
            refused(operation, victim.pair, region, key, region.address(), Long.MIN_VALUE);
            refused(operation, victim.pair, region, key, region.address(), BYTES + 1);
        }
    }

    @Test
    void aWindowShowsItsPartOfTheRegionOnly() {
        MemoryRegion region = memory(victim.domain, Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.WINDOW_BIND));
        MemoryWindow window = victim.domain.allocateWindow(MemoryWindowType.TYPE_1);
        victim.pair.bind(9, window, region, 8, 8, Set.of(AccessFlag.REMOTE_READ), 0);
        int key = window.remoteKey();

        assertThat(ask(Operation.READ, victim.pair, key, region.address() + 8, 8))
                .isEqualTo(FINISHED);
        refused(Operation.READ, victim.pair, region, key, region.address(), 8);
        refused(Operation.WRITE, victim.pair, region, key, region.address() + 8, 8);
        refused(Operation.DELIVER, victim.pair, region, key, region.address() + 8, 8);
    }
}
