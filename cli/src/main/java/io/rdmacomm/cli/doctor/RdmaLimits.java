package io.rdmacomm.cli.doctor;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The limits of RDMA resources that the kernel sets for the control group of this process and the groups above it
/// (Documentation/admin-guide/cgroup-v2.rst, section RDMA; version 1 is the same). Only hierarchies at the usual mount
/// point are seen.
final class RdmaLimits {
    private static final String CONTROLLER = "rdma";
    private static final String LIMITS = "rdma.max";
    private static final Path ROOT = Path.of("/");
    private static final Path MOUNT = Path.of("/sys/fs/cgroup");
    private static final Path MEMBERSHIP = Path.of("/proc/self/cgroup");

    private RdmaLimits() {}

    /// A warning for each device with a limit; empty if there is none.
    static List<Finding> findings() {
        return findings(groups(MOUNT, HostFile.lines(MEMBERSHIP)));
    }

    /// The possible folders of the group and of the groups above it. A container may know the path of its group
    /// from the host, which has no folder here; then the folder at the mount point is its group.
    ///
    /// @param mount the folder of the groups of version 2, or of the controllers of version 1
    /// @param membership the lines of `/proc/self/cgroup` (cgroups(7)), for example `0::/system.slice/a.service`
    static List<Path> groups(Path mount, List<String> membership) {
        List<Path> groups = new ArrayList<>();
        for (String line : membership) {
            String[] fields = line.split(":", 3);
            boolean first = fields.length == 3 && List.of(fields[1].split(",")).contains(CONTROLLER);
            if (first || line.startsWith("0::/")) {
                Path top = first ? mount.resolve(CONTROLLER) : mount;
                Path group = top.resolve(ROOT.relativize(Path.of(fields[2]).normalize()));
                for (; group != null && group.startsWith(top); group = group.getParent()) {
                    groups.add(group);
                }
            }
        }
        return groups;
    }

    /// @param groups the folders of the group and of the groups above it
    static List<Finding> findings(List<Path> groups) {
        List<Finding> findings = new ArrayList<>();
        for (Path group : groups) {
            Path file = group.resolve(LIMITS);
            for (String line : HostFile.lines(file)) {
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
