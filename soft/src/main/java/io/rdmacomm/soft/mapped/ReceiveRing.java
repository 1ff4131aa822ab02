package io.rdmacomm.soft.mapped;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.verbs.ReceiveRequestLayout;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/// Posted receives in shared memory, of a queue pair or of a shared receive queue: the owner posts, peers take.
///
/// ```
/// +0 mask | +8 elements per receive | +12 bytes per entry | +16 shared queue's number or 0 | +20 protection
/// domain +64 tail | +128 head | +192 armed limit | +256 entries
/// entry  +0 work id | +8 element count | +16 elements of 16 bytes
/// ```
/// Taking a receive moves the head by compare-and-set, so that owner and peers never both have it.
public final class ReceiveRing {
    private static final int MASK = 0;
    private static final int ELEMENTS = 8;
    private static final int STRIDE = 12;
    private static final int SHARED_NUMBER = 16;
    private static final int DOMAIN = 20;
    private static final int TAIL = 64;
    private static final int HEAD = 128;
    private static final int LIMIT = 192;
    private static final int ENTRIES = 256;
    private static final int ENTRY_WORK_ID = 0;
    private static final int ENTRY_COUNT = 8;
    private static final int ENTRY_ELEMENTS = 16;

    private final ControlFile file;
    private final MemorySegment memory;
    private final long offset;
    private final long bytes;
    private final long mask;
    private final int stride;
    private final int depth;

    private ReceiveRing(ControlFile file, long offset, long bytes, long mask, int stride, int depth) {
        this.file = file;
        this.memory = file.memory();
        this.offset = offset;
        this.bytes = bytes;
        this.mask = mask;
        this.stride = stride;
        this.depth = depth;
    }

    /// Creates a ring for `depth` receives of at most `elements` elements.
    ///
    /// @param sharedNumber the number of the shared receive queue, 0 for a queue pair's own
    /// @param domain the number of the protection domain that the elements must belong to
    /// @throws IOException if there is no room
    public static ReceiveRing create(ControlFile file, int depth, int elements, int sharedNumber, int domain)
            throws IOException {
        // Twice the depth: an entry that a peer is filling is not overwritten as long as it counts as outstanding.
        long size = Integer.highestOneBit(Math.max(1, depth) * 2 - 1) * 2L;
        int stride = (ENTRY_ELEMENTS + Math.max(1, elements) * ReceiveRequestLayout.ELEMENT_BYTES + 63) / 64 * 64;
        long bytes = ENTRIES + size * stride;
        long offset = file.allocate(bytes);
        MemorySegment memory = file.memory();
        memory.set(JAVA_LONG, offset + MASK, size - 1);
        memory.set(JAVA_INT, offset + ELEMENTS, Math.max(1, elements));
        memory.set(JAVA_INT, offset + STRIDE, stride);
        memory.set(JAVA_INT, offset + SHARED_NUMBER, sharedNumber);
        memory.set(JAVA_INT, offset + DOMAIN, domain);
        return new ReceiveRing(file, offset, bytes, size - 1, stride, depth);
    }

    /// Where the ring is in the control file.
    public long offset() {
        return offset;
    }

    /// The number of receives it holds.
    public int depth() {
        return depth;
    }

    /// The number of receives that are posted and not taken.
    public int size() {
        return (int) (SharedWords.opaque(memory, offset + TAIL) - SharedWords.acquire(memory, offset + HEAD));
    }

    /// Appends a receive of the C layout; the owner, one thread at a time.
    ///
    /// @return false if the ring is full
    public boolean post(MemorySegment request, long at, long elementsAt) {
        long tail = SharedWords.opaque(memory, offset + TAIL);
        if (tail - SharedWords.acquire(memory, offset + HEAD) >= depth) {
            return false;
        }
        long entry = offset + ENTRIES + (tail & mask) * stride;
        int count = request.get(JAVA_INT, at + ReceiveRequestLayout.ELEMENT_COUNT);
        memory.set(JAVA_LONG, entry + ENTRY_WORK_ID, request.get(JAVA_LONG, at + ReceiveRequestLayout.WORK_ID));
        memory.set(JAVA_INT, entry + ENTRY_COUNT, count);
        for (int i = 0; i < count; i++) {
            long from = elementsAt + (long) i * ReceiveRequestLayout.ELEMENT_BYTES;
            long to = entry + ENTRY_ELEMENTS + (long) i * ReceiveRequestLayout.ELEMENT_BYTES;
            memory.set(JAVA_LONG, to, request.get(JAVA_LONG, from));
            memory.set(JAVA_LONG, to + 8, request.get(JAVA_LONG, from + 8));
        }
        SharedWords.release(memory, offset + TAIL, tail + 1);
        return true;
    }

    /// Takes back the oldest receive, to flush it; the owner.
    ///
    /// @return whether there was one; its work id is in `taken`
    public boolean take(long[] taken) {
        while (true) {
            long head = SharedWords.acquire(memory, offset + HEAD);
            if (head == SharedWords.opaque(memory, offset + TAIL)) {
                return false;
            }
            taken[0] = memory.get(JAVA_LONG, offset + ENTRIES + (head & mask) * stride + ENTRY_WORK_ID);
            if (SharedWords.compareAndSet(memory, offset + HEAD, head, head + 1)) {
                return true;
            }
        }
    }

    /// Discards all receives, for a queue pair that is reset; the owner.
    public void clear() {
        long[] discarded = new long[1];
        while (take(discarded)) {
            Thread.onSpinWait();
        }
    }

    /// Arms the limit, 0 to disarm.
    public void armLimit(int limit) {
        SharedWords.publishInt(memory, offset + LIMIT, limit);
    }

    /// The armed limit, 0 when none is armed.
    public int limit() {
        return SharedWords.acquireInt(memory, offset + LIMIT);
    }

    /// Whether the receive at `position` was taken.
    public boolean isTaken(long position) {
        return SharedWords.acquire(memory, offset + HEAD) > position;
    }

    /// Gives the memory back.
    public void free() {
        file.free(offset, bytes);
    }

    /// The position of the oldest receive of the ring at `ring`; a peer.
    public static long head(MemorySegment memory, long ring) {
        return SharedWords.acquire(memory, ring + HEAD);
    }

    /// The number of receives that were ever posted to the ring at `ring`: the position behind the newest; a peer.
    public static long tail(MemorySegment memory, long ring) {
        return SharedWords.acquire(memory, ring + TAIL);
    }

    /// Where the entry at `position` is; a peer.
    public static long entry(MemorySegment memory, long ring, long position) {
        return ring + ENTRIES + (position & memory.get(JAVA_LONG, ring + MASK)) * memory.get(JAVA_INT, ring + STRIDE);
    }

    /// The work id of an entry.
    public static long workId(MemorySegment memory, long entry) {
        return memory.get(JAVA_LONG, entry + ENTRY_WORK_ID);
    }

    /// The number of elements of an entry, never more than its ring allows.
    public static int elementCount(MemorySegment memory, long ring, long entry) {
        return Math.max(0, Math.min(memory.get(JAVA_INT, entry + ENTRY_COUNT), memory.get(JAVA_INT, ring + ELEMENTS)));
    }

    /// Where the elements of an entry are.
    public static long elements(long entry) {
        return entry + ENTRY_ELEMENTS;
    }

    /// Takes the receive at `position`; a peer.
    ///
    /// @return false if somebody else had it
    public static boolean take(MemorySegment memory, long ring, long position) {
        return SharedWords.compareAndSet(memory, ring + HEAD, position, position + 1);
    }

    /// The number of the shared receive queue that the ring belongs to; 0 for a queue pair's own.
    public static int sharedNumber(MemorySegment memory, long ring) {
        return memory.get(JAVA_INT, ring + SHARED_NUMBER);
    }

    /// The number of the protection domain that the elements must belong to.
    public static int domain(MemorySegment memory, long ring) {
        return memory.get(JAVA_INT, ring + DOMAIN);
    }

    /// Disarms the limit if fewer receives than it are left.
    ///
    /// @return whether the limit's event is due now
    public static boolean crossedLimit(MemorySegment memory, long ring) {
        int limit = SharedWords.acquireInt(memory, ring + LIMIT);
        if (limit == 0) {
            return false;
        }
        long left = SharedWords.acquire(memory, ring + TAIL) - SharedWords.acquire(memory, ring + HEAD);
        return left < limit && SharedWords.compareAndSetInt(memory, ring + LIMIT, limit, 0);
    }
}
