package io.rdmacomm.soft;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.soft.mapped.ControlLayout;
import io.rdmacomm.soft.shm.ShmPeer;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Device;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.ProtectionDomain;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

/// The regions of another process that this one has mapped.
class PeerRegionsTest {
    private final Device device = Soft.device("regions=127.0.0.1");

    @Test
    void onlyWhatItsOwnerHasClosedIsUnmapped() {
        try (Context here = device.open();
                Context there = device.open();
                ShmPeer peer = connect(Soft.of(here), Soft.of(there))) {
            ProtectionDomain domain = there.allocateProtectionDomain();
            MemoryRegion closed = domain.allocate(8, AccessFlag.allRemote());
            MemoryRegion open = domain.allocate(8, AccessFlag.allRemote());
            MemorySegment mapped = mapped(peer, closed);
            MemorySegment other = mapped(peer, open);

            peer.forgetRegions();

            assertThat(mapped.scope().isAlive()).isTrue();

            closed.close();
            peer.forgetRegions();

            assertThat(mapped.scope().isAlive()).isFalse();
            assertThat(other.scope().isAlive()).isTrue();
            assertThat(mapped(peer, open)).isEqualTo(other);
        }
    }

    @Test
    void aFileStaysMappedWhileARegionHasAPartOfIt() {
        try (Context here = device.open();
                Context there = device.open();
                ShmPeer peer = connect(Soft.of(here), Soft.of(there))) {
            ProtectionDomain domain = there.allocateProtectionDomain();
            MemoryRegion whole = domain.allocate(4096, AccessFlag.allRemote());
            MemoryRegion part = domain.register(whole.segment().asSlice(64, 64), AccessFlag.allRemote());
            MemoryRegion first = domain.register(whole.segment().asSlice(0, 64), AccessFlag.allRemote());
            MemorySegment mapped = mapped(peer, whole);
            assertThat(mapped(peer, part)).isEqualTo(mapped);

            first.close();
            whole.close();
            peer.forgetRegions();

            assertThat(mapped.scope().isAlive()).isTrue();
            assertThat(mapped(peer, part)).isEqualTo(mapped);

            part.close();
            peer.forgetRegions();

            assertThat(mapped.scope().isAlive()).isFalse();
        }
    }

    private static ShmPeer connect(SoftContext here, SoftContext there) {
        return ShmPeer.connect(there.lid(), there.queryGid(1, 0), here.lid(), here.queryGid(1, 0));
    }

    private static MemorySegment mapped(ShmPeer peer, MemoryRegion region) {
        long entry = ControlLayout.key(region.remoteKey());
        int fileKey = peer.memory().get(JAVA_INT, entry + ControlLayout.KEY_FILE_KEY);
        return peer.region(fileKey >>> 16, peer.memory().get(JAVA_LONG, entry + ControlLayout.KEY_FILE));
    }
}
