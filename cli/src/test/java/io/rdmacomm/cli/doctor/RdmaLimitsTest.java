package io.rdmacomm.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Limits of RDMA resources in a hierarchy of control groups.
class RdmaLimitsTest {
    @TempDir
    private Path mount;

    private void limit(String group, String lines) throws IOException {
        Path folder = Files.createDirectories(mount.resolve(group));
        Files.writeString(folder.resolve("rdma.max"), lines);
    }

    @Test
    void findsTheLimitsOfAllGroupsAbove() throws IOException {
        limit("slice/job", "mlx5_0 hca_handle=2 hca_object=max\nmlx5_1 hca_handle=max hca_object=max\n");
        limit("slice", "mlx5_1 hca_handle=max hca_object=100\n");
        limit("other", "mlx5_0 hca_handle=1 hca_object=1\n");

        assertThat(RdmaLimits.findings(List.of(mount.resolve("slice/job"), mount.resolve("slice"), mount)))
                .extracting(Finding::text)
                .satisfiesExactly(
                        first -> assertThat(first).endsWith("job/rdma.max: mlx5_0 hca_handle=2 hca_object=max"),
                        second -> assertThat(second).endsWith("slice/rdma.max: mlx5_1 hca_handle=max hca_object=100"));
    }

    @Test
    void aGroupWithoutLimitsIsFine() throws IOException {
        limit("slice", "mlx5_0 hca_handle=max hca_object=max\n");

        assertThat(RdmaLimits.findings(List.of(mount.resolve("slice")))).isEmpty();
        assertThat(RdmaLimits.findings(List.of())).isEmpty();
    }

    @Test
    void groupsAreFoundInBothVersions() {
        assertThat(RdmaLimits.groups(mount, List.of("0::/slice/job")))
                .containsExactly(mount.resolve("slice/job"), mount.resolve("slice"), mount);
        assertThat(RdmaLimits.groups(mount, List.of("5:cpu,cpuacct:/docker", "4:rdma:/docker", "1:name=systemd:/")))
                .containsExactly(mount.resolve("rdma/docker"), mount.resolve("rdma"));
        assertThat(RdmaLimits.groups(mount, List.of("0::/../job", "", "0", "0::")))
                .containsExactly(mount.resolve("job"), mount);
    }
}
