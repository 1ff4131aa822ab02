package io.rdmacomm.cli.doctor;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// The libraries of rdma-core that this process has loaded. Their file names contain the version:
/// `libibverbs.so.1.14.44.0` belongs to rdma-core 44.
final class NativeLibraries {
    private static final Pattern OF_RDMA = Pattern.compile(
            ".*/(libibverbs\\.so.*|librdmacm\\.so.*|libibverbs/.*\\.so.*|lib(mlx[45]|efa|mana|hns)\\.so.*)");

    private NativeLibraries() {}

    /// Their paths; empty if there are none, or the system does not report them.
    static List<String> loaded() {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
            return lines.filter(line -> line.contains("/"))
                    .map(line -> line.substring(line.indexOf('/')))
                    .filter(path -> OF_RDMA.matcher(path).matches())
                    .distinct()
                    .sorted()
                    .toList();
        } catch (IOException _) {
            return List.of();
        }
    }
}
