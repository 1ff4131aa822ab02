package io.rdmacomm.soft;

import io.rdmacomm.soft.mapped.MappedFile;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/// The file with the memory of a region. Several regions may share the memory, each with its own rights and key;
/// closing the last one removes the file. Thread-safe.
final class RegionFile {
    private final long number;
    private final MappedFile mapped;
    private int users = 1;
    private boolean idle = true;

    /// A file with one user.
    RegionFile(long number, MappedFile mapped) {
        this.number = number;
        this.mapped = mapped;
    }

    /// The number that peers find it by.
    long number() {
        return number;
    }

    /// The file.
    MappedFile mapped() {
        return mapped;
    }

    /// Its memory.
    MemorySegment segment() {
        return mapped.segment();
    }

    /// Adds a user if the file has exactly this memory, and returns whether it has.
    synchronized boolean share(MemorySegment memory) {
        boolean same = users > 0
                && segment().address() == memory.address()
                && segment().byteSize() == memory.byteSize();
        if (same) {
            users++;
        }
        return same;
    }

    /// Removes a user.
    ///
    /// @param unused whether no thread uses the memory through that user
    /// @return whether it was the last one
    synchronized boolean release(boolean unused) {
        idle &= unused;
        return --users == 0;
    }

    /// Unmaps and removes the file, which no longer has users.
    void remove() throws IOException {
        mapped.close(idle);
    }
}
