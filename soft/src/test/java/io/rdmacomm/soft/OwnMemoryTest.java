package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.ReceiveBatch;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.WorkStatus;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

/// The caller's own segments as the target of a queue pair of the same context.
class OwnMemoryTest {
    @Test
    void aContextReachesItsOwnRegisteredMemoryInThePost() {
        try (Arena arena = Arena.ofShared();
                AddressEnd end = new AddressEnd()) {
            MemorySegment memory = arena.allocate(64, 8);
            MemoryRegion own = end.domain.register(memory, AccessFlag.allRemote());
            Completions done = Completions.create(arena, 8);
            end.pair.connect(end.pair.info());
            end.pair.post(ReceiveBatch.create(arena, 1, 1).receive(1).with(own, 32, 8));
            MemorySegment source = end.region.segment();
            source.set(ValueLayout.JAVA_LONG, 0, 40);
            SendBatch batch = end.batch();
            batch.write(2, own.remote()).with(end.region, 0, 8).signaled();
            batch.fetchAndAdd(3, own.remote(), 2).with(end.region, 8, 8).signaled();
            batch.compareAndSwap(4, own.remote(), 42, 43)
                    .with(end.region, 16, 8)
                    .signaled();
            batch.read(5, own.remote()).with(end.region, 24, 8).signaled();
            batch.send(6).with(end.region, 24, 8).signaled();

            end.post(batch);

            assertThat(end.queue.poll(done))
                    .as("outcomes that are there at once")
                    .isEqualTo(6);
            assertThat(Soft.counter(end.context, "staged_copies"))
                    .as("pieces that another process copies")
                    .isZero();
            for (int i = 0; i < 6; i++) {
                assertThat(done.isSuccess(i)).isTrue();
            }
            assertThat(source.get(ValueLayout.JAVA_LONG, 8)).isEqualTo(40);
            assertThat(source.get(ValueLayout.JAVA_LONG, 16)).isEqualTo(42);
            assertThat(source.get(ValueLayout.JAVA_LONG, 24)).isEqualTo(43);
            assertThat(memory.get(ValueLayout.JAVA_LONG, 32)).isEqualTo(43);
            own.close();
        }
    }

    /// A processor's atomic instructions want the memory aligned, whatever the region calls its addresses.
    @Test
    void anAtomicOnMisalignedMemoryIsRejectedWithAStatus() {
        try (Arena arena = Arena.ofShared();
                AddressEnd end = new AddressEnd()) {
            Set<AccessFlag> rights = EnumSet.copyOf(AccessFlag.allRemote());
            rights.add(AccessFlag.ZERO_BASED);
            MemoryRegion own = end.domain.register(arena.allocate(64, 8).asSlice(1, 32), rights);
            Completions done = Completions.create(arena, 8);
            end.pair.connect(end.pair.info());
            SendBatch batch = end.batch();
            batch.fetchAndAdd(1, 8, own.remoteKey(), 2).with(end.region, 0, 8).signaled();

            end.post(batch);

            assertThat(end.queue.poll(done)).isEqualTo(1);
            assertThat(done.status(0)).isEqualTo(WorkStatus.REMOTE_INVALID_REQUEST);
            end.pair.close();
            own.close();
        }
    }
}
