package io.rdmacomm.verbs.statistics;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;

/// The memory that this process can still allocate before the kernel kills it or another program: that of the
/// machine, or less if a control group of the process has a limit (version 1 and 2). It can be registered, but for
/// the limit of locked memory (`ulimit -l`). Files of a tmpfs take it, and so do the buffers of the software
/// device.
///
/// @param bytes the number of bytes; [Long#MAX_VALUE] if it is unknown
/// @param owner the effective limit, for messages: `the machine`, or the file that contains it
// Written without streams and lambdas, which are slow to start: every new process comes here before its first
// connection.
public record MemoryRoom(long bytes, String owner) {
    private static final Path MACHINE = Path.of("/proc/meminfo");
    private static final String AVAILABLE = "MemAvailable:";
    /// The memory that the kernel reclaims before it kills a program: page cache, and its own caches.
    private static final Set<String> RECLAIMABLE_2 = Set.of("active_file", "inactive_file", "slab_reclaimable");
    private static final Set<String> RECLAIMABLE_1 = Set.of("total_active_file", "total_inactive_file");

    /// The memory that is left now. Reads files of the kernel, which takes about a millisecond; a file that cannot
    /// be read sets no limit. Thread-safe.
    public static MemoryRoom left() {
        return left(MACHINE, ControlGroups.of("memory"));
    }

    /// @param machine `/proc/meminfo` (proc_meminfo(5))
    static MemoryRoom left(Path machine, List<Path> groups) {
        MemoryRoom least = new MemoryRoom(ofMachine(machine), "the machine");
        for (Path group : groups) {
            least = smaller(least, ofGroup(group, "memory.max", "memory.current", RECLAIMABLE_2));
            least = smaller(least, ofGroup(group, "memory.limit_in_bytes", "memory.usage_in_bytes", RECLAIMABLE_1));
        }
        return least;
    }

    private static MemoryRoom smaller(MemoryRoom one, MemoryRoom other) {
        return other.bytes < one.bytes ? other : one;
    }

    /// Whether a control group, not the machine, limits it.
    public boolean isOfGroup() {
        return owner.startsWith("/");
    }

    private static long ofMachine(Path machine) {
        for (String line : KernelFile.lines(machine)) {
            if (line.startsWith(AVAILABLE)) {
                String number = line.substring(AVAILABLE.length()).strip();
                int end = number.indexOf(' ');
                long kilobytes = number(end < 0 ? number : number.substring(0, end));
                return kilobytes == Long.MAX_VALUE ? kilobytes : kilobytes * 1024;
            }
        }
        return Long.MAX_VALUE;
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
        long back = 0;
        for (String line : KernelFile.lines(group.resolve("memory.stat"))) {
            int space = line.indexOf(' ');
            if (space > 0 && reclaimable.contains(line.substring(0, space))) {
                back += number(line.substring(space + 1));
            }
        }
        return new MemoryRoom(Math.max(0, limit - Math.max(0, usage - back)), file.toString());
    }

    private static long numberIn(Path file) {
        List<String> lines = KernelFile.lines(file);
        return lines.isEmpty() ? Long.MAX_VALUE : number(lines.getFirst());
    }

    private static long number(String text) {
        try {
            return Long.parseLong(text.strip());
        } catch (NumberFormatException e) {
            return Long.MAX_VALUE;
        }
    }
}
