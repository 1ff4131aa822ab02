package io.rdmacomm.ibverbs.ffm;

import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;

/// Anonymous memory in whole pages (mmap(2)). Thread-safe.
public final class Pages {
    private static final MemorySegment MAP = find("mmap");
    private static final MemorySegment UNMAP = find("munmap");
    private static final long FAILED = -1;
    private static final long NO_FILE = -1;

    private static final int READ_WRITE = LibCLayout.PROTECTION_READ | LibCLayout.PROTECTION_WRITE;
    private static final int OWN = LibCLayout.MAP_PRIVATE | LibCLayout.MAP_ANONYMOUS;

    private Pages() {}

    /// Maps zeroed memory.
    ///
    /// @return its address; 0 if the system does not have enough
    public static long map(long bytes) {
        return map(bytes, OWN);
    }

    /// Maps zeroed memory in huge pages of the default size, which are reserved now.
    ///
    /// @param bytes a multiple of that size
    /// @return its address; 0 if the system has not enough free huge pages
    public static long mapHuge(long bytes) {
        return map(bytes, OWN | LibCLayout.MAP_HUGE);
    }

    private static long map(long bytes, int flags) {
        long address = Calls.value(MAP, 0, bytes, READ_WRITE, flags, NO_FILE, 0);
        return address == FAILED ? 0 : address;
    }

    /// Returns the memory to the system, but keeps the addresses: a write there is harmless and lost.
    ///
    /// @return whether that worked; if not, nothing has changed
    public static boolean discard(long address, long bytes) {
        int instead = OWN | LibCLayout.MAP_FIXED | LibCLayout.MAP_WITHOUT_RESERVE;
        return Calls.value(MAP, address, bytes, READ_WRITE, instead, NO_FILE, 0) == address;
    }

    /// Returns memory and addresses to the system.
    public static void unmap(long address, long bytes) {
        long _ = Calls.value(UNMAP, address, bytes);
    }

    private static MemorySegment find(String name) {
        return Linker.nativeLinker().defaultLookup().findOrThrow(name);
    }
}
