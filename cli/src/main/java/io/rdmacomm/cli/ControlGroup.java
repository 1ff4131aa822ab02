package io.rdmacomm.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The limits of RDMA resources that the kernel sets for the control group of this process, and for those
/// above it (Documentation/admin-guide/cgroup-v2.rst, section RDMA).
final class ControlGroup {
    private static final String LIMITS = "rdma.max";
    private static final Path MOUNT = Path.of("/sys/fs/cgroup");
    private static final Path MEMBERSHIP = Path.of("/proc/self/cgroup");

    private ControlGroup() {}

    /// A warning for each device with a limit; empty if there is none.
    static List<Finding> findings() {
        return findings(MOUNT, path(MEMBERSHIP));
    }

    /// @param mount where the hierarchy of version 2 is
    /// @param path the path of the group in it
    static List<Finding> findings(Path mount, String path) {
        List<Finding> findings = new ArrayList<>();
        Path relative = Path.of("/").relativize(Path.of(path));
        for (Path group = mount.resolve(relative);
                group != null && group.startsWith(mount);
                group = group.getParent()) {
            Path file = group.resolve(LIMITS);
            for (String line : lines(file)) {
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

    private static String path(Path membership) {
        return lines(membership).stream()
                .filter(line -> line.startsWith("0::/"))
                .map(line -> line.substring("0::".length()))
                .findFirst()
                .orElse("/");
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException _) {
            return List.of();
        }
    }
}
