package io.rdmacomm.soft;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.WorkStatus;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Memory of an open region that is registered once more: another key for it, with other rights and its own
/// end.
class SharedRegistrationTest {
    private static final Set<AccessFlag> LOCAL = EnumSet.of(AccessFlag.LOCAL_WRITE);
    private static final Set<AccessFlag> WRITE = EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);

    private final AddressEnd here = new AddressEnd();
    private final AddressEnd there = new AddressEnd();

    @BeforeEach
    void connect() {
        here.pair.connect(there.pair.info());
        there.pair.connect(here.pair.info());
    }

    @AfterEach
    void close() {
        here.close();
        there.close();
    }

    private WorkStatus write(MemoryRegion to, long value) {
        here.region.segment().set(JAVA_LONG, 0, value);
        SendBatch batch = here.batch();
        batch.write(1, to.remote()).with(here.region, 0, 8).signaled();
        here.post(batch);
        return here.next().status();
    }

    private long staged() {
        return Soft.counter(here.context, "staged_copies");
    }

    @Test
    void peersReachItWithoutAThreadOfTheOwner() {
        MemoryRegion allocated = there.domain.allocate(4096, LOCAL);
        MemoryRegion again = there.domain.register(allocated.segment(), WRITE);

        assertThat(again.remoteKey()).isNotEqualTo(allocated.remoteKey());
        assertThat(write(again, 7)).isEqualTo(WorkStatus.SUCCESS);
        assertThat(allocated.segment().get(JAVA_LONG, 0)).isEqualTo(7);
        assertThat(staged()).isZero();
    }

    @Test
    void theKeyOfOneGivesNoRightOfTheOther() {
        MemoryRegion allocated = there.domain.allocate(4096, LOCAL);
        MemoryRegion again = there.domain.register(allocated.segment(), WRITE);

        assertThat(write(again, 1)).isEqualTo(WorkStatus.SUCCESS);
        assertThat(write(allocated, 2)).isEqualTo(WorkStatus.REMOTE_ACCESS_ERROR);
        assertThat(allocated.segment().get(JAVA_LONG, 0)).isEqualTo(1);
    }

    @Test
    void eachKeyEndsByItself() {
        MemoryRegion allocated = there.domain.allocate(4096, WRITE);
        MemoryRegion one = there.domain.register(allocated.segment(), WRITE);
        MemoryRegion other = there.domain.register(allocated.segment(), WRITE);
        assertThat(write(one, 1)).isEqualTo(WorkStatus.SUCCESS);

        one.close();

        assertThat(write(other, 2)).isEqualTo(WorkStatus.SUCCESS);
        assertThat(write(allocated, 3)).isEqualTo(WorkStatus.SUCCESS);
        assertThat(write(one, 4)).isEqualTo(WorkStatus.REMOTE_ACCESS_ERROR);
        assertThat(allocated.segment().get(JAVA_LONG, 0)).isEqualTo(3);
    }

    @Test
    void theMemoryStaysUntilAllAreClosed() {
        MemoryRegion allocated = there.domain.allocate(4096, LOCAL);
        MemorySegment memory = allocated.segment();
        MemoryRegion again = there.domain.register(memory, WRITE);

        allocated.close();

        assertThat(memory.scope().isAlive()).isTrue();
        assertThat(write(again, 5)).isEqualTo(WorkStatus.SUCCESS);
        assertThat(memory.get(JAVA_LONG, 0)).isEqualTo(5);
        again.close();
        assertThat(memory.scope().isAlive()).isFalse();
        assertThat(staged()).isZero();
    }

    @Test
    void otherMemoryIsPrivateStill() {
        try (Arena arena = Arena.ofShared()) {
            MemoryRegion allocated = there.domain.allocate(4096, LOCAL);
            MemoryRegion part = there.domain.register(allocated.segment().asSlice(0, 64), WRITE);
            MemoryRegion registered = there.domain.register(allocated.segment(), WRITE);
            registered.reregister(arena.allocate(64, 8), null, null);

            assertThat(write(part, 6)).isEqualTo(WorkStatus.SUCCESS);
            assertThat(allocated.segment().get(JAVA_LONG, 0)).isEqualTo(6);
            assertThat(write(registered, 8)).isEqualTo(WorkStatus.SUCCESS);
            assertThat(allocated.segment().get(JAVA_LONG, 0)).isEqualTo(6);
            assertThat(staged()).as("the other memory only").isEqualTo(1);
            registered.close();
        }
    }

    @Test
    void aPartCanBecomeAnotherPartOfTheSameMemory() {
        MemoryRegion allocated = there.domain.allocate(4096, LOCAL);
        MemorySegment memory = allocated.segment();
        MemoryRegion part = there.domain.register(memory.asSlice(0, 64), WRITE);
        allocated.close();

        part.reregister(memory.asSlice(128, 64), null, null);

        assertThat(write(part, 9)).isEqualTo(WorkStatus.SUCCESS);
        assertThat(memory.get(JAVA_LONG, 128)).isEqualTo(9);
        assertThat(memory.get(JAVA_LONG, 0)).isZero();
        assertThat(staged()).isZero();
        part.close();
        assertThat(memory.scope().isAlive()).isFalse();
    }
}
