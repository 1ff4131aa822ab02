package io.rdmacomm.tests.soak;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/// What a process uses.
///
/// @param heap bytes of live objects
/// @param direct bytes of direct buffers
/// @param anonymous resident bytes that no file backs: heap, native memory, compiled code
record Usage(long heap, long direct, long anonymous, long descriptors, long threads) {
    private static final Path STATUS = Path.of("/proc/self/status");
    private static final Path DESCRIPTORS = Path.of("/proc/self/fd");

    /// Collects garbage first.
    static Usage now() {
        System.gc();
        long direct = ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                .filter(pool -> pool.getName().equals("direct"))
                .mapToLong(BufferPoolMXBean::getMemoryUsed)
                .sum();
        try (Stream<Path> files = Files.list(DESCRIPTORS)) {
            // Without the one that lists them.
            long descriptors = files.count() - 1;
            return new Usage(
                    ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed(),
                    direct,
                    status("RssAnon:") << 10,
                    descriptors,
                    status("Threads:"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static long status(String name) throws IOException {
        try (Stream<String> lines = Files.lines(STATUS)) {
            return lines.filter(line -> line.startsWith(name))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
                    .sum();
        }
    }

    Words words() {
        return Words.of(
                "heap", heap, "direct", direct, "anonymous", anonymous, "descriptors", descriptors, "threads", threads);
    }
}
