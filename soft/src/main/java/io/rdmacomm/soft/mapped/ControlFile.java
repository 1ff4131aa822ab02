package io.rdmacomm.soft.mapped;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.MemorySegment;
import java.util.BitSet;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/// The control file of a context, for its owner: header, tables and a heap that rings are allocated from.
///
/// Control path only; allocation takes a lock.
public final class ControlFile implements AutoCloseable {
    /// Name of the file in the context's folder.
    public static final String NAME = "control";

    private static final int PAGE = 4096;
    private static final int PAGES_AT_ONCE = 16;

    // Not a FileChannel, which an interrupt of one thread closes for all threads.
    private final RandomAccessFile file;
    private final MappedFile mapped;
    private final UUID identity = UUID.randomUUID();
    private final BitSet reserved = new BitSet();
    private final TreeMap<Long, Long> free = new TreeMap<>();
    private final byte[] zeros = new byte[PAGES_AT_ONCE * PAGE];

    private ControlFile(RandomAccessFile file, MappedFile mapped) {
        this.file = file;
        this.mapped = mapped;
        free.put(ControlLayout.HEAP, ControlLayout.FILE_BYTES - ControlLayout.HEAP - PAGE);
    }

    /// Creates the file of a context.
    ///
    /// @throws IOException if there is no room
    public static ControlFile create(ShmDirectory directory, long gidHigh, long gidLow) throws IOException {
        MappedFile mapped = MappedFile.createSparse(directory, NAME, ControlLayout.FILE_BYTES);
        ControlFile file = null;
        try {
            file = new ControlFile(new RandomAccessFile(directory.file(NAME).toFile(), "rw"), mapped);
            file.reserve(0, PAGE);
            MemorySegment memory = mapped.segment();
            SharedWords.releaseInt(memory, ControlLayout.HEADER_VERSION, ControlLayout.VERSION);
            SharedWords.releaseInt(memory, ControlLayout.HEADER_LID, directory.lid());
            SharedWords.release(memory, ControlLayout.HEADER_GID_HIGH, gidHigh);
            SharedWords.release(memory, ControlLayout.HEADER_GID_LOW, gidLow);
            SharedWords.release(memory, ControlLayout.HEADER_IDENTITY_HIGH, file.identity.getMostSignificantBits());
            SharedWords.release(memory, ControlLayout.HEADER_IDENTITY_LOW, file.identity.getLeastSignificantBits());
            SharedWords.publish(memory, ControlLayout.HEADER_MAGIC, ControlLayout.MAGIC);
            return file;
        } catch (IOException | RuntimeException e) {
            if (file != null) {
                file.close();
            } else {
                mapped.close();
            }
            throw e;
        }
    }

    /// Lets other contexts connect over shared memory. They connect over TCP until then.
    public void share() {
        SharedWords.releaseInt(memory(), ControlLayout.HEADER_SHARED, 1);
    }

    /// A random number that identifies this context. Only processes that can read the file know it, unless they are
    /// told.
    public UUID identity() {
        return identity;
    }

    /// The whole file.
    public MemorySegment memory() {
        return mapped.segment();
    }

    /// Allocates the bytes before they are accessed, so that a full file system causes an exception and not a signal.
    ///
    /// @throws IOException if there is no room
    public synchronized void reserve(long offset, long bytes) throws IOException {
        int end = (int) ((offset + bytes - 1) / PAGE) + 1;
        int page = reserved.nextClearBit((int) (offset / PAGE));
        while (page < end) {
            int present = reserved.nextSetBit(page);
            int most = Math.min(end, page + PAGES_AT_ONCE);
            int until = present < 0 ? most : Math.min(most, present);
            file.seek((long) page * PAGE);
            file.write(zeros, 0, (until - page) * PAGE);
            reserved.set(page, until);
            page = reserved.nextClearBit(until);
        }
    }

    /// Allocates zeroed memory, aligned to a cache line.
    ///
    /// @return its offset
    /// @throws IOException if there is no room
    public synchronized long allocate(long bytes) throws IOException {
        long size = (bytes + ControlLayout.LINE - 1) / ControlLayout.LINE * ControlLayout.LINE;
        Map.Entry<Long, Long> hole = firstHole(size);
        if (hole == null) {
            throw new NoRoomException(
                    "the control file is full: " + bytes + " bytes do not fit",
                    "close queues, make them shorter, or open another context");
        }
        long offset = hole.getKey();
        reserve(offset, size);
        free.remove(offset);
        if (hole.getValue() > size) {
            free.put(offset + size, hole.getValue() - size);
        }
        memory().asSlice(offset, size).fill((byte) 0);
        return offset;
    }

    private Map.@Nullable Entry<Long, Long> firstHole(long size) {
        for (Map.Entry<Long, Long> hole : free.entrySet()) {
            if (hole.getValue() >= size) {
                return Map.entry(hole.getKey(), hole.getValue());
            }
        }
        return null;
    }

    /// Frees memory that [#allocate] returned for the same number of bytes.
    public synchronized void free(long offset, long bytes) {
        long start = offset;
        long size = (bytes + ControlLayout.LINE - 1) / ControlLayout.LINE * ControlLayout.LINE;
        Map.Entry<Long, Long> before = free.floorEntry(start);
        if (before != null && before.getKey() + before.getValue() == start) {
            start = before.getKey();
            size += before.getValue();
        }
        Long after = free.remove(start + size);
        free.put(start, after == null ? size : size + after);
    }

    @Override
    public void close() throws IOException {
        file.close();
        mapped.close();
    }
}
