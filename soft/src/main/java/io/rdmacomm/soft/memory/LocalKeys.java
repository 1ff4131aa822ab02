package io.rdmacomm.soft.memory;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.soft.mapped.ControlLayout;
import io.rdmacomm.soft.mapped.KeyTable;
import io.rdmacomm.soft.mapped.SharedWords;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// The keys of this context that a peer on the network may use through one queue pair. Makes the responder's checks
/// in the order of the InfiniBand Architecture Specification 9.7.4: the key exists, the protection domain is the
/// same, the right is there, the range lies inside.
public final class LocalKeys {
    private final LocalMemory memory;
    private final int domain;
    private final int number;

    /// The keys that one queue pair's peer may use.
    ///
    /// @param domain number of the queue pair's protection domain
    /// @param number of the queue pair
    public LocalKeys(LocalMemory memory, int domain, int number) {
        this.memory = memory;
        this.domain = domain;
        this.number = number;
    }

    /// Checks an access, and adds the memory behind it to `into`.
    ///
    /// @return null if it is allowed
    public @Nullable AccessFault resolve(int key, long address, long length, int right, ElementList into) {
        MemorySegment table = memory.control();
        long entry = ControlLayout.key(key);
        if ((key >>> 16) >= SharedWords.opaqueInt(table, ControlLayout.HEADER_KEYS)) {
            return AccessFault.INVALID_KEY;
        }
        long word = SharedWords.acquire(table, entry + ControlLayout.KEY_WORD);
        if (word == 0 || (int) word != key) {
            return AccessFault.INVALID_KEY;
        }
        int onlyFor = table.get(JAVA_INT, entry + ControlLayout.KEY_QUEUE_PAIR);
        if (table.get(JAVA_INT, entry + ControlLayout.KEY_DOMAIN) != domain || (onlyFor != 0 && onlyFor != number)) {
            return AccessFault.OTHER_DOMAIN;
        }
        if ((table.get(JAVA_INT, entry + ControlLayout.KEY_ACCESS) & right) == 0) {
            return AccessFault.MISSING_RIGHT;
        }
        long offset = address - table.get(JAVA_LONG, entry + ControlLayout.KEY_ADDRESS);
        if (offset < 0 || offset > table.get(JAVA_LONG, entry + ControlLayout.KEY_LENGTH) - length) {
            return AccessFault.OUT_OF_BOUNDS;
        }
        LocalRegion region = memory.region(table.get(JAVA_INT, entry + ControlLayout.KEY_REGION));
        long fileOffset = table.get(JAVA_LONG, entry + ControlLayout.KEY_FILE_OFFSET) + offset;
        if (region == null || !memory.isValid(key)) {
            return AccessFault.INVALID_KEY;
        }
        long regionOffset = fileOffset - region.fileOffset();
        if (regionOffset < 0 || regionOffset > region.length() - length) {
            // Others can write to the key table, so it does not decide the bounds of the region.
            return AccessFault.OUT_OF_BOUNDS;
        }
        into.add(region, regionOffset, length);
        return null;
    }

    /// Invalidates the key of a Send with Invalidate: that of a type 2 window that this queue pair bound.
    ///
    /// @return whether there was one
    public boolean invalidate(int key) {
        MemorySegment table = memory.control();
        long entry = ControlLayout.key(key);
        return (key >>> 16) < SharedWords.opaqueInt(table, ControlLayout.HEADER_KEYS)
                && table.get(JAVA_INT, entry + ControlLayout.KEY_QUEUE_PAIR) == number
                && SharedWords.compareAndSet(
                        table, entry + ControlLayout.KEY_WORD, KeyTable.word(key, KeyTable.WINDOW), 0);
    }
}
