package io.rdmacomm.cli.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacomm.cli.bench.trial.Governors;
import io.rdmacomm.cli.bench.trial.MachineLoad;
import io.rdmacomm.cli.doctor.Finding.Grade;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SpeedChecksTest {
    @Test
    void aBusyMachineIsAWarning() {
        assertThat(SpeedChecks.load(new MachineLoad(0.1, 0, 2)).grade()).isEqualTo(Grade.OK);
        Finding busy = SpeedChecks.load(new MachineLoad(1.5, 0.1, 2));
        assertThat(busy.grade()).isEqualTo(Grade.WARN);
        assertThat(busy.text()).contains("1.5 of 2 processors", "10 %");
    }

    @Test
    void aGovernorThatSavesPowerIsAWarning(@TempDir Path processors) throws Exception {
        assertThat(Governors.in(processors)).isEmpty();
        for (int i = 0; i < 2; i++) {
            Path folder = Files.createDirectories(processors.resolve("cpu" + i + "/cpufreq"));
            Files.writeString(folder.resolve("scaling_governor"), "performance\n");
        }
        String steady = Governors.in(processors).orElseThrow();
        Files.writeString(processors.resolve("cpu1/cpufreq/scaling_governor"), "powersave\n");
        String mixed = Governors.in(processors).orElseThrow();

        assertThat(SpeedChecks.governor(steady).grade()).isEqualTo(Grade.OK);
        assertThat(mixed).isEqualTo("performance, powersave");
        assertThat(SpeedChecks.governor(mixed).grade()).isEqualTo(Grade.WARN);
        assertThat(Governors.in(processors.resolve("none"))).isEmpty();
    }

    @Test
    void theNodeOfAnAdapterIsNamedWhereThereAreSeveral(@TempDir Path folder) throws Exception {
        Path devices = folder.resolve("devices");
        Path nodes = Files.createDirectories(folder.resolve("nodes/node0")).getParent();
        Files.createDirectories(devices.resolve("rxe0"));
        Files.createDirectories(devices.resolve("mlx5_0/device"));
        Files.writeString(devices.resolve("mlx5_0/device/numa_node"), "1\n");
        assertThat(SpeedChecks.nodes(devices, nodes)).isEmpty();

        Files.createDirectory(nodes.resolve("node1"));

        assertThat(SpeedChecks.nodes(devices, nodes))
                .singleElement()
                .satisfies(finding -> assertThat(finding.text()).contains("mlx5_0 is at node 1", "--membind=1"));
    }
}
