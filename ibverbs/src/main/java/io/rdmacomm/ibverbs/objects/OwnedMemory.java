package io.rdmacomm.ibverbs.objects;

import io.rdmacomm.ibverbs.ffm.NativeMemory;
import io.rdmacomm.ibverbs.ffm.Pages;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.PageSize;
import io.rdmacomm.verbs.VerbException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// Memory that a region owns: whole pages, or a mapped file.
final class OwnedMemory {
    private static final String ALLOCATE = "allocate memory (mmap)";
    private static final long PAGE = 4096;

    private final long address;
    private final long mapped;
    private final boolean isFile;
    private final Arena arena;
    private final MemorySegment segment;

    /// @param mapped the bytes of all its pages
    private OwnedMemory(long address, long mapped, long bytes) {
        this.address = address;
        this.mapped = mapped;
        this.isFile = false;
        this.arena = Arena.ofShared();
        this.segment = NativeMemory.at(address, bytes, arena);
    }

    private OwnedMemory(MemorySegment file, Arena mapping) {
        this.address = file.address() / PAGE * PAGE;
        this.mapped = file.address() + file.byteSize() - address;
        this.isFile = true;
        this.arena = mapping;
        this.segment = file;
    }

    /// A file that the JDK has mapped.
    ///
    /// @param mapping unmaps it
    static OwnedMemory ofFile(MemorySegment file, Arena mapping) {
        return new OwnedMemory(file, mapping);
    }

    /// Zeroed memory that begins at a page.
    ///
    /// @throws VerbException ENOMEM if the system does not have enough
    static OwnedMemory allocate(long bytes, PageSize pages) {
        return pages == PageSize.HUGE ? allocateHuge(bytes) : allocateNormal(bytes);
    }

    private static OwnedMemory allocateNormal(long bytes) {
        long address = Pages.map(bytes);
        if (address == 0) {
            throw new VerbException(ALLOCATE, Errno.ENOMEM, bytes + " bytes of memory are not available");
        }
        return new OwnedMemory(address, bytes, bytes);
    }

    private static OwnedMemory allocateHuge(long bytes) {
        HugePages pages = HugePages.ofSystem();
        long mapped = pages.wholePages(bytes);
        long address = mapped == 0 ? 0 : Pages.mapHuge(mapped);
        if (address == 0) {
            throw new VerbException(ALLOCATE, Errno.ENOMEM, pages.shortage(bytes));
        }
        return new OwnedMemory(address, mapped, bytes);
    }

    /// The memory, until [#close()].
    MemorySegment segment() {
        return segment;
    }

    /// Invalidates the segment; the memory itself stays. The segment of a file is valid until [#free()].
    void close() {
        if (!isFile) {
            arena.close();
        }
    }

    /// Returns the memory to the system, and keeps only the addresses.
    void discard() {
        var _ = Pages.discard(address, mapped);
    }

    /// Returns memory and addresses to the system.
    void free() {
        if (isFile) {
            arena.close();
        } else {
            Pages.unmap(address, mapped);
        }
    }
}
