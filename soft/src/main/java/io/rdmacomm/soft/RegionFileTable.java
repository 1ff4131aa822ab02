package io.rdmacomm.soft;

import io.rdmacomm.soft.mapped.MappedFile;
import io.rdmacomm.soft.mapped.ShmDirectory;
import io.rdmacomm.soft.shm.ShmPeer;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// The files with the memory of the regions of a context, by the address of that memory. Thread-safe.
final class RegionFileTable {
    private final ShmDirectory directory;
    private final AtomicLong numbers = new AtomicLong();
    private final Map<Long, RegionFile> files = new ConcurrentHashMap<>();

    RegionFileTable(ShmDirectory directory) {
        this.directory = directory;
    }

    /// Creates the file of a region, which is its first user.
    ///
    /// @throws IOException if there is no room
    RegionFile create(long bytes) throws IOException {
        long number = numbers.incrementAndGet();
        RegionFile created = new RegionFile(number, MappedFile.create(directory, ShmPeer.regionName(number), bytes));
        files.put(created.segment().address(), created);
        return created;
    }

    /// The file of an open region with exactly this memory, for another user; null if there is none.
    @Nullable
    RegionFile share(MemorySegment memory) {
        RegionFile file = files.get(memory.address());
        return file != null && file.share(memory) ? file : null;
    }

    /// Removes a region that is closed or has other memory now from a file's users; the last one removes the file.
    ///
    /// @param unused whether no thread uses the memory through that region
    void release(RegionFile file, boolean unused) throws IOException {
        if (file.release(unused)) {
            // Before it is unmapped: then another region may get its addresses.
            files.remove(file.segment().address(), file);
            file.remove();
        }
    }
}
