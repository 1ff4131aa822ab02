package io.rdmacomm.soft;

import io.rdmacomm.soft.mapped.MappedFile;
import io.rdmacomm.soft.memory.FilePlace;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/// The file with the memory of a region: one in shared memory, or one that the program has mapped. Other regions
/// may have the same memory or parts of it, each with its own rights and key; closing the last one removes the
/// file. Thread-safe.
final class RegionFile {
    private final long number;
    private final int key;
    private final MappedFile mapped;
    private int users = 1;
    private boolean idle = true;

    /// A file with one user.
    ///
    /// @param number the number that peers find it by; negative for a file of the program
    /// @param key the key of its first region
    RegionFile(long number, int key, MappedFile mapped) {
        this.number = number;
        this.key = key;
        this.mapped = mapped;
    }

    /// The key of its first region. Its entry in the key table stands for the file, so the key is not given to
    /// another region before the file is removed.
    int key() {
        return key;
    }

    /// Where memory that the file has is in it.
    FilePlace place(MemorySegment memory) {
        return new FilePlace(mapped, number, key, memory.address() - segment().address());
    }

    /// Whether the program has mapped it.
    boolean isOfProgram() {
        return mapped.isOfProgram();
    }

    /// Its memory.
    MemorySegment segment() {
        return mapped.segment();
    }

    /// Adds a user if the file has all of this memory, and returns whether it has.
    synchronized boolean share(MemorySegment memory) {
        long offset = memory.address() - segment().address();
        // A program that unmaps its file too early may have something else at the address by now.
        boolean contains = users > 0
                && offset >= 0
                && offset <= segment().byteSize() - memory.byteSize()
                && segment().scope().isAlive();
        if (contains) {
            users++;
        }
        return contains;
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
