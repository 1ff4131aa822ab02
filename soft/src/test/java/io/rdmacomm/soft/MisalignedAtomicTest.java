package io.rdmacomm.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.WorkStatus;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// A zero-based region of misaligned memory of the peer: aligned in the addresses of the region, not in memory.
class MisalignedAtomicTest {
    @ParameterizedTest
    @CsvSource({
        "true, REMOTE_ACCESS_ERROR", // its own process is asked for it, and refuses
        "false, REMOTE_INVALID_REQUEST"
    })
    void isRefusedAndThePeerGoesOn(boolean sharedMemory, WorkStatus status) {
        String settings = "soft0=127.0.0.1?sharedMemory=" + sharedMemory;
        try (Arena arena = Arena.ofShared();
                AddressEnd end = new AddressEnd(settings);
                AddressEnd peer = new AddressEnd(settings)) {
            Set<AccessFlag> rights = EnumSet.copyOf(AccessFlag.allRemote());
            rights.add(AccessFlag.ZERO_BASED);
            MemorySegment memory = arena.allocate(64, 8);
            MemoryRegion misaligned = peer.domain.register(memory.asSlice(1, 32), rights);
            connect(end, peer);

            end.post(fetchAndAdd(end, misaligned));

            assertThat(end.next().status()).isEqualTo(status);
            assertThat(memory.toArray(ValueLayout.JAVA_BYTE)).containsOnly(0);

            MemoryRegion aligned = peer.domain.register(memory.asSlice(32, 32), rights);
            connect(end.renew(), peer.renew());
            end.post(fetchAndAdd(end, aligned));
            end.succeeded(1);
            assertThat(memory.get(ValueLayout.JAVA_LONG, 40)).isEqualTo(2);

            end.pair.close();
            peer.pair.close();
            misaligned.close();
            aligned.close();
        }
    }

    private static void connect(AddressEnd end, AddressEnd peer) {
        end.pair.connect(peer.pair.info());
        peer.pair.connect(end.pair.info());
    }

    private static SendBatch fetchAndAdd(AddressEnd end, MemoryRegion region) {
        return end.batch()
                .fetchAndAdd(1, 8, region.remoteKey(), 2)
                .with(end.region, 0, 8)
                .signaled();
    }
}
