package io.rdmacomm.verbs.host;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/// The memory that this process can still allocate before the kernel kills it or another program: that of the
/// machine, or less if a control group of the process has a limit (version 1 and 2). Files of a tmpfs count.
///
/// @param bytes [Long#MAX_VALUE] if it is unknown
/// @param owner the effective limit, for messages: `the machine`, or the file that contains it
public record MemoryRoom(long bytes, String owner) {
    private static final Path MACHINE = Path.of("/proc/meminfo");
    /// The memory that the kernel reclaims before it kills a program: page cache, and its own caches.
    private static final Set<String> RECLAIMABLE_2 = Set.of("active_file", "inactive_file", "slab_reclaimable");
    private static final Set<String> RECLAIMABLE_1 = Set.of("total_active_file", "total_inactive_file");

    /// The room left now. Reads files of the kernel.
    public static MemoryRoom left() {
        return left(MACHINE, ControlGroups.of("memory"));
    }

    /// @param machine `/proc/meminfo` (proc_meminfo(5))
    static MemoryRoom left(Path machine, List<Path> groups) {
        MemoryRoom least = new MemoryRoom(ofMachine(machine), "the machine");
        for (Path group : groups) {
            for (MemoryRoom room : List.of(
                    ofGroup(group, "memory.max", "memory.current", RECLAIMABLE_2),
                    ofGroup(group, "memory.limit_in_bytes", "memory.usage_in_bytes", RECLAIMABLE_1))) {
                least = room.bytes < least.bytes ? room : least;
            }
        }
        return least;
    }

    /// Whether a control group, not the machine, limits it.
    public boolean isOfGroup() {
        return owner.startsWith("/");
    }

    private static long ofMachine(Path machine) {
        return lines(machine)
                .filter(line -> line.startsWith("MemAvailable:"))
                .map(line -> number(line.replaceAll("[^0-9]", "")))
                .findFirst()
                .map(kilobytes -> kilobytes * 1024)
                .orElse(Long.MAX_VALUE);
    }

    /// A group without a limit has `max` in its file in version 2, and a value above the memory of any
    /// machine in version 1.
    private static MemoryRoom ofGroup(Path group, String limitFile, String usageFile, Set<String> reclaimable) {
        Path file = group.resolve(limitFile);
        long limit = numberIn(file);
        long usage = numberIn(group.resolve(usageFile));
        if (limit == Long.MAX_VALUE || usage == Long.MAX_VALUE) {
            return new MemoryRoom(Long.MAX_VALUE, file.toString());
        }
        long back = lines(group.resolve("memory.stat"))
                .map(line -> line.split(" ", 2))
                .filter(words -> words.length == 2 && reclaimable.contains(words[0]))
                .mapToLong(words -> number(words[1]))
                .sum();
        return new MemoryRoom(Math.max(0, limit - Math.max(0, usage - back)), file.toString());
    }

    private static long numberIn(Path file) {
        return lines(file).findFirst().map(MemoryRoom::number).orElse(Long.MAX_VALUE);
    }

    private static long number(String text) {
        try {
            return Long.parseLong(text.strip());
        } catch (NumberFormatException e) {
            return Long.MAX_VALUE;
        }
    }

    private static Stream<String> lines(Path file) {
        try {
            return Files.readAllLines(file).stream();
        } catch (IOException _) {
            // The file does not exist in this kernel or version of control groups.
            return Stream.empty();
        }
    }
}
