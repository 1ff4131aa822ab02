package io.rdmacomm.soft;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.soft.mapped.ControlLayout;
import io.rdmacomm.soft.shm.Peer;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.MemoryRegion;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

/// The regions of another process that this one has mapped.
class PeerRegionsTest {
    private final SoftDevice device = new SoftDevice("soft", DeviceSettings.parse("regions=127.0.0.1"));

    @Test
    void aLateMessageAboutAClosedRegionLeavesTheNextOneOfItsIndexAlone() {
        try (SoftContext here = (SoftContext) device.open();
                SoftContext there = (SoftContext) device.open();
                Peer peer = Peer.connect(there.lid(), there.gid(), here.lid(), here.gid())) {
            MemoryRegion region = there.allocateProtectionDomain().allocate(8, AccessFlag.allRemote());
            int index = region.remoteKey() >>> 16;
            long file = peer.memory().get(JAVA_LONG, ControlLayout.key(region.remoteKey()) + ControlLayout.KEY_FILE);
            MemorySegment mapped = peer.region(index, file);

            peer.forgetRegion(index, file - 1);

            assertThat(mapped.scope().isAlive()).isTrue();
            assertThat(peer.region(index, file)).isEqualTo(mapped);

            peer.forgetRegion(index, file);

            assertThat(mapped.scope().isAlive()).isFalse();
        }
    }
}
