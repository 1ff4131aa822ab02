package io.rdmacomm.ibverbs.objects;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/// The present number of huge pages of the default size on this machine (proc_meminfo(5)).
///
/// @param size of each in bytes; 0 if the kernel has none
/// @param total how many there are
/// @param free how many of them are neither used nor reserved
record HugePages(long size, long total, long free) {
    private static final long KIBI = 1024;

    static HugePages ofSystem() {
        return read(Path.of("/proc/meminfo"));
    }

    static HugePages read(Path file) {
        List<String> lines;
        try {
            lines = Files.readAllLines(file);
        } catch (IOException e) {
            lines = List.of();
        }
        return new HugePages(
                KIBI * number(lines, "Hugepagesize:"),
                number(lines, "HugePages_Total:"),
                number(lines, "HugePages_Free:") - number(lines, "HugePages_Rsvd:"));
    }

    private static long number(List<String> lines, String name) {
        return lines.stream()
                .filter(line -> line.startsWith(name))
                .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")))
                .findFirst()
                .orElse(0);
    }

    /// The size of the pages for this many bytes; 0 if there can be no such pages.
    long wholePages(long bytes) {
        return size == 0 || bytes > Long.MAX_VALUE - size ? 0 : pages(bytes) * size;
    }

    private long pages(long bytes) {
        return (bytes - 1) / size + 1;
    }

    /// The reason why there are no huge pages for this many bytes, and what to do.
    String shortage(long bytes) {
        if (size == 0) {
            return "this kernel has no huge pages (no Hugepagesize in /proc/meminfo); ask for PageSize.NORMAL";
        }
        long wanted = pages(bytes);
        return "%d bytes need %d huge pages of %d KiB, and %d are free; reserve more with `sysctl vm.nr_hugepages=%d`, or ask for PageSize.NORMAL"
                .formatted(bytes, wanted, size / KIBI, free, total + Math.max(1, wanted - free));
    }
}
