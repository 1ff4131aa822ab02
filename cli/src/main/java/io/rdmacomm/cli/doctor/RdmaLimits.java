package io.rdmacomm.cli.doctor;

import io.rdmacomm.verbs.host.ControlGroups;
import io.rdmacomm.verbs.host.KernelFile;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The limits of RDMA resources that the kernel sets for the control group of this process, and for those
/// above it (Documentation/admin-guide/cgroup-v2.rst, section RDMA; it is the same in version 1).
final class RdmaLimits {
    private static final String LIMITS = "rdma.max";

    private RdmaLimits() {}

    /// A warning for each device with a limit; empty if there is none.
    static List<Finding> findings() {
        return findings(ControlGroups.of("rdma"));
    }

    /// @param groups the folders of the group and of those above it
    static List<Finding> findings(List<Path> groups) {
        List<Finding> findings = new ArrayList<>();
        for (Path group : groups) {
            Path file = group.resolve(LIMITS);
            for (String line : KernelFile.lines(file)) {
                Finding finding = finding(file, line);
                if (finding != null) {
                    findings.add(finding);
                }
            }
        }
        return findings;
    }

    /// @param line for example `mlx5_0 hca_handle=2 hca_object=max`
    private static @Nullable Finding finding(Path file, String line) {
        boolean limited = Stream.of(line.split("\\s+")).skip(1).anyMatch(word -> !word.endsWith("=max"));
        return limited
                ? Finding.warn(
                        "control group",
                        file + ": " + line,
                        "calls that create more contexts (hca_handle) or queue pairs, completion queues and regions"
                                + " (hca_object) fail with EAGAIN: raise the limit, for example with echo '"
                                + line.split("\\s+", 2)[0] + " hca_handle=max hca_object=max' > " + file)
                : null;
    }
}
