package io.rdmacomm.tests.comm;

import io.rdmacomm.tests.fixture.PrivateMemory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/// The memory of this process in bytes: the heap after a collection, memory of buffers outside of it, and its files in
/// shared memory.
record MemoryUse(long heap, long buffers, long shared) {
    static MemoryUse now() {
        System.gc();
        long heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
        long buffers = ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                .mapToLong(BufferPoolMXBean::getMemoryUsed)
                .sum();
        return new MemoryUse(heap, buffers, sharedBytes());
    }

    private static long sharedBytes() {
        try (Stream<Path> files = Files.walk(PrivateMemory.folder())) {
            return files.mapToLong(file -> file.toFile().length()).sum();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// By how much this is more than `before`, in the place where it has grown most.
    long growthSince(MemoryUse before) {
        return Math.max(heap - before.heap, Math.max(buffers - before.buffers, shared - before.shared));
    }
}
