package io.rdmacomm.soft;

import io.rdmacomm.soft.mapped.MappedFile;
import io.rdmacomm.soft.mapped.ShmDirectory;
import io.rdmacomm.soft.shm.ShmPeer;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// The files with the memory of the regions of a context, by the address of that memory. Thread-safe.
final class RegionFileTable {
    private final ShmDirectory directory;
    private final boolean shared;
    private final AtomicLong numbers = new AtomicLong();
    private final ConcurrentNavigableMap<Long, RegionFile> files = new ConcurrentSkipListMap<>();

    /// @param shared whether peers may map files of the program
    RegionFileTable(ShmDirectory directory, boolean shared) {
        this.directory = directory;
        this.shared = shared;
    }

    /// Creates the file of a region, which is its first user.
    ///
    /// @param key the key of that region
    /// @throws IOException if there is no room
    RegionFile create(int key, long bytes) throws IOException {
        long number = numbers.incrementAndGet();
        RegionFile created =
                new RegionFile(number, key, MappedFile.create(directory, ShmPeer.regionName(number), bytes));
        files.put(created.segment().address(), created);
        return created;
    }

    /// The file of an open region that has all of this memory, for another user; null if there is none.
    private @Nullable RegionFile share(MemorySegment memory) {
        Map.Entry<Long, RegionFile> nearest = files.floorEntry(memory.address());
        return nearest != null && nearest.getValue().share(memory) ? nearest.getValue() : null;
    }

    /// The file behind memory of the program, for a region that uses it: that of an open region, or a new one.
    ///
    /// @param key of that region
    /// @return null if no peer could map it
    /// @throws IOException if there is no room
    @Nullable
    RegionFile find(int key, MemorySegment memory) throws IOException {
        RegionFile open = share(memory);
        return open == null && shared && memory.isMapped() ? note(key, memory) : open;
    }

    private @Nullable RegionFile note(int key, MemorySegment memory) throws IOException {
        long number = -numbers.incrementAndGet();
        MappedFile file = MappedFile.ofProgram(directory, ShmPeer.regionName(number), memory);
        if (file == null) {
            return null;
        }
        RegionFile noted = new RegionFile(number, key, file);
        files.put(memory.address(), noted);
        return noted;
    }

    /// Removes a region that is closed or has other memory now from a file's users; the last one removes the file.
    ///
    /// @param unused whether no thread uses the memory through that region
    /// @return whether it was removed
    boolean release(RegionFile file, boolean unused) throws IOException {
        if (!file.release(unused)) {
            return false;
        }
        // Before it is unmapped: then another region may get its addresses.
        files.remove(file.segment().address(), file);
        file.remove();
        return true;
    }
}
