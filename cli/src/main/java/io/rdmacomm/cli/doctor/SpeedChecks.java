package io.rdmacomm.cli.doctor;

import io.rdmacomm.cli.bench.trial.Governors;
import io.rdmacomm.cli.bench.trial.MachineLoad;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/// Checks for causes of slow measurements, or of differences from run to run.
final class SpeedChecks {
    private static final Path DEVICES = Path.of("/sys/class/infiniband");
    private static final Path NODES = Path.of("/sys/devices/system/node");

    private SpeedChecks() {}

    /// Runs all checks. Measures the load for a quarter of a second.
    static List<Finding> all() {
        List<Finding> findings = new ArrayList<>();
        findings.add(load(MachineLoad.now()));
        Governors.ofThisMachine().map(SpeedChecks::governor).ifPresent(findings::add);
        findings.addAll(nodes(DEVICES, NODES));
        return findings;
    }

    static Finding load(MachineLoad load) {
        return load.isHigh()
                ? Finding.warn("load", load.toString(), "measure when the machine does nothing else")
                : Finding.ok("load", load.toString());
    }

    static Finding governor(String governors) {
        return Governors.areSteady(governors)
                ? Finding.ok("frequency", "governor " + governors)
                : Finding.warn("frequency", "governor " + governors, "before you measure: " + Governors.REMEDY);
    }

    /// The NUMA node of each adapter, on a machine that has several.
    static List<Finding> nodes(Path devices, Path nodes) {
        List<Finding> findings = new ArrayList<>();
        if (names(nodes).stream().filter(name -> name.matches("node[0-9]+")).count() < 2) {
            return findings;
        }
        for (String device : names(devices)) {
            try {
                String node = Files.readString(devices.resolve(device).resolve("device/numa_node"))
                        .strip();
                if (node.matches("[0-9]+")) {
                    findings.add(Finding.ok(
                            "NUMA node",
                            device + " is at node " + node + "; numactl --cpunodebind=" + node + " --membind=" + node
                                    + " COMMAND runs there"));
                }
            } catch (IOException _) {
                // A software device belongs to no node.
            }
        }
        return findings;
    }

    private static List<String> names(Path folder) {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        } catch (IOException _) {
            return List.of();
        }
    }
}
