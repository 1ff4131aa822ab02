package io.rdmacomm.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.verbs.statistics.MemoryRoom;
import org.junit.jupiter.api.Test;

/// What doctor says about shared memory.
class MachineChecksTest {
    private static final long GIB = 1L << 30;
    private static final long MIB = 1L << 20;

    @Test
    void aLimitOfTheControlGroupCounts() {
        Finding finding = MachineChecks.room(6 * GIB, 12 * GIB, new MemoryRoom(100 * MIB, "/sys/fs/cgroup/memory.max"));
        assertThat(finding.grade()).isEqualTo(Finding.Grade.WARN);
        assertThat(finding.text()).contains("6 GiB free of 12 GiB", "/sys/fs/cgroup/memory.max has only 100 MiB left");
        assertThat(finding.remedy()).contains("memory limit of this container").doesNotContain("remount");
    }

    @Test
    void aLimitWithRoomEnoughIsNamed() {
        Finding finding = MachineChecks.room(6 * GIB, 12 * GIB, new MemoryRoom(2 * GIB, "/sys/fs/cgroup/memory.max"));
        assertThat(finding.grade()).isEqualTo(Finding.Grade.OK);
        assertThat(finding.text())
                .contains("/sys/fs/cgroup/memory.max has only 2 GiB left")
                .endsWith("writable");
    }

    @Test
    void aSmallFileSystemIsEnlarged() {
        Finding finding = MachineChecks.room(64 * MIB, 64 * MIB, new MemoryRoom(9 * GIB, "the machine"));
        assertThat(finding.grade()).isEqualTo(Finding.Grade.WARN);
        assertThat(finding.text()).doesNotContain("left");
        assertThat(finding.remedy()).contains("remount");
    }
}
