package io.rdmacomm.soft.mapped;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.verbs.spi.ReceiveRequestLayout;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// Posted receives in shared memory, of a queue pair or of a shared receive queue: the owner posts, peers take.
///
/// ```
/// +0 mask | +8 elements per receive | +12 bytes per entry | +16 shared queue's number or 0 | +20 protection
/// domain | +24 first position | +32 lines | +40 first plain position | +64 tail
/// +128 head | +136 claimed | +144 next | +192 armed limit | +200 larger entries or 0 | +256 entries
/// entry  +0 work id | +8 element count | +16 position << 28 | taker, 0 for none | +24 elements of 16 bytes
/// ```
///
/// Taking a receive moves the head by compare-and-set, so that owner and peers never both have it. Peers take
/// with a [ReceiveTaker]. The owner keeps all other values in its own memory, too.
///
/// Several peers take from a shared queue. So that each receive shows which peer has it even if that peer dies, a
/// peer first writes itself into the entry by compare-and-set, and then moves the head, unless another peer does.
///
/// A shared queue that grows gets larger [ReceiveEntries] for the receives that are posted from then on. They
/// have a mask, a first position, larger ones and entries, at the same offsets; the other words are those of
/// the ring.
public final class ReceiveRing {
    /// Most elements of a receive.
    public static final int MOST_ELEMENTS = 32;
    /// Most receives that a ring holds.
    public static final int MOST_RECEIVES = 1 << 16;

    static final int MOST_ENTRIES = 2 * MOST_RECEIVES;

    /// The owner as a taker: a value that no queue pair of another context has.
    private static final long OWNER = 1;

    static final int MASK = 0;
    static final int ELEMENTS = 8;
    static final int STRIDE = 12;
    static final int SHARED_NUMBER = 16;
    static final int DOMAIN = 20;
    static final int FIRST = 24;
    static final int TAIL = 64;
    static final int HEAD = 128;
    static final int LIMIT = 192;
    static final int LARGER = 200;
    static final int ENTRIES = 256;
    static final int ENTRY_WORK_ID = 0;
    static final int ENTRY_COUNT = 8;
    static final int ENTRY_TAKER = 16;
    static final int ENTRY_ELEMENTS = 24;

    private static final int TAKER_BITS = 28;
    private static final int NUMBER_BITS = 12;

    private final ControlFile file;
    private final MemorySegment memory;
    private final long offset;
    private final ReceiveEntries smallest;
    private final int stride;
    private final int elements;
    private final int sharedNumber;
    private final int domain;
    private volatile @Nullable ReceiveLines lines;
    private volatile int depth;
    private volatile ReceiveEntries entries;
    private long tail;
    /// The head when it was last read.
    private long knownHead;
    /// The first receive that the owner has taken back.
    private long takenBack = Long.MAX_VALUE;

    private ReceiveRing(ControlFile file, long size, int elements, int sharedNumber, int domain, int depth)
            throws IOException {
        this.file = file;
        this.memory = file.memory();
        this.elements = elements;
        this.stride = stride(elements);
        this.sharedNumber = sharedNumber;
        this.domain = domain;
        this.depth = depth;
        this.smallest = ReceiveEntries.create(file, size, stride, 0, null);
        this.entries = smallest;
        this.offset = smallest.offset();
        memory.set(JAVA_INT, offset + ELEMENTS, elements);
        memory.set(JAVA_INT, offset + STRIDE, stride);
        memory.set(JAVA_INT, offset + SHARED_NUMBER, sharedNumber);
        memory.set(JAVA_INT, offset + DOMAIN, domain);
    }

    /// Creates a ring for `depth` receives of at most `elements` elements.
    ///
    /// @param sharedNumber the number of the shared receive queue, 0 for a queue pair's own
    /// @param domain the number of the protection domain that the elements must belong to
    /// @throws IOException if there is no room
    public static ReceiveRing create(ControlFile file, int depth, int elements, int sharedNumber, int domain)
            throws IOException {
        return new ReceiveRing(file, size(depth), Math.max(1, elements), sharedNumber, domain, depth);
    }

    /// Gives the receives of a queue pair lines, before one is taken; the owner, while it posts none.
    ///
    /// @return null if there is no room
    public @Nullable ReceiveLines addLines() {
        try {
            ReceiveLines added = new ReceiveLines(file, offset, smallest.mask());
            added.plainFrom(tail);
            lines = added;
            return added;
        } catch (IOException e) {
            return null;
        }
    }

    /// Twice the depth: an entry that a peer is filling is not overwritten as long as it counts as outstanding.
    private static long size(int depth) {
        return Integer.highestOneBit(Math.max(1, depth) * 2 - 1) * 2L;
    }

    /// The size of an entry for this many elements.
    static int stride(int elements) {
        return (ENTRY_ELEMENTS + elements * ReceiveRequestLayout.ELEMENT_BYTES + 63) / 64 * 64;
    }

    /// The word of an entry that `taker` has taken, 0 for none.
    static long word(long position, long taker) {
        return (position << TAKER_BITS) | taker;
    }

    /// A queue pair that takes receives.
    ///
    /// @param lid of its context
    static long taker(int lid, int number) {
        return ((lid & 0xffffL) << NUMBER_BITS) | (number & ((1L << NUMBER_BITS) - 1));
    }

    /// The takers' end, for this context.
    public ReceiveTaker taker() {
        return new ReceiveTaker(memory, smallest, elements, sharedNumber, domain, OWNER);
    }

    /// Where the ring is in the control file.
    public long offset() {
        return offset;
    }

    /// The number of the protection domain that the elements belong to.
    public int domain() {
        return domain;
    }

    /// The number of receives it holds.
    public int depth() {
        return depth;
    }

    /// The number of receives that are posted and not taken; the owner, one thread at a time.
    public int size() {
        return left(SharedWords.acquire(memory, offset + HEAD));
    }

    /// How many receives are behind a head that was read from the shared memory: none if it cannot be right.
    private int left(long head) {
        long left = tail - head;
        return left < 0 || left > depth ? 0 : (int) left;
    }

    /// Appends a receive of the C layout; the owner, one thread at a time.
    ///
    /// @param plain whether its line can take the payload; false if it has none
    /// @return false if the ring is full
    public boolean post(MemorySegment request, long at, long elementsAt, boolean plain) {
        if (isFull()) {
            return false;
        }
        long entry = entries.at(tail);
        int count = request.get(JAVA_INT, at + ReceiveRequestLayout.ELEMENT_COUNT);
        memory.set(JAVA_LONG, entry + ENTRY_WORK_ID, request.get(JAVA_LONG, at + ReceiveRequestLayout.WORK_ID));
        memory.set(JAVA_INT, entry + ENTRY_COUNT, count);
        memory.set(JAVA_LONG, entry + ENTRY_TAKER, word(tail, 0));
        for (int i = 0; i < count; i++) {
            long from = elementsAt + (long) i * ReceiveRequestLayout.ELEMENT_BYTES;
            long to = entry + ENTRY_ELEMENTS + (long) i * ReceiveRequestLayout.ELEMENT_BYTES;
            memory.set(JAVA_LONG, to, request.get(JAVA_LONG, from));
            memory.set(JAVA_LONG, to + 8, request.get(JAVA_LONG, from + 8));
        }
        tail++;
        ReceiveLines with = lines;
        if (with != null && !plain) {
            with.plainFrom(tail);
        }
        SharedWords.release(memory, offset + TAIL, tail);
        return true;
    }

    /// The position of the next receive that is posted; the owner, one thread at a time.
    public long tail() {
        return tail;
    }

    /// The position of the oldest receive that was not taken from the ring; the owner.
    public long head() {
        return SharedWords.acquire(memory, offset + HEAD);
    }

    /// The work id of a receive that was posted.
    public long workId(long position) {
        return memory.get(JAVA_LONG, entries.at(position) + ENTRY_WORK_ID);
    }

    /// Where the first element of a receive that was posted is in the control file.
    public long element(long position) {
        return entries.at(position) + ENTRY_ELEMENTS;
    }

    /// Receives before this position have ended in their lines.
    public void skipTo(long position) {
        SharedWords.publish(memory, offset + HEAD, position);
    }

    /// Peers write the head with every message, so it is read only when no room is known to be left.
    private boolean isFull() {
        if (tail - knownHead < depth) {
            return false;
        }
        ReceiveLines with = lines;
        knownHead = Math.max(head(), with == null ? 0 : with.arrived());
        return tail - knownHead >= depth;
    }

    /// Takes back the oldest receive, to flush it; the owner, while it posts none. At most [#depth()] times in a
    /// row, because a faulty peer may write the head.
    ///
    /// @return whether there was one; its work id is in `taken`
    public boolean take(long[] taken) {
        for (int turn = 0; turn <= depth; turn++) {
            long head = SharedWords.acquire(memory, offset + HEAD);
            if (left(head) == 0) {
                return false;
            }
            taken[0] = memory.get(JAVA_LONG, entries.at(head) + ENTRY_WORK_ID);
            if (SharedWords.compareAndSet(memory, offset + HEAD, head, head + 1)) {
                takenBack = Math.min(takenBack, head);
                return true;
            }
        }
        return false;
    }

    /// Discards all receives, for a queue pair that is reset; the owner.
    public void clear() {
        SharedWords.publish(memory, offset + HEAD, tail);
        takenBack = Long.MAX_VALUE;
        ReceiveLines with = lines;
        if (with != null) {
            with.clear(tail);
        }
    }

    /// Changes how many receives a shared queue holds; the owner, while it posts none. Memory is never freed before
    /// the ring is, because a peer may access an entry much later.
    ///
    /// @return false if more than that are posted
    /// @throws IOException if there is no room
    public boolean resize(int receives) throws IOException {
        if (size() > receives) {
            return false;
        }
        long size = size(receives);
        ReceiveEntries current = entries;
        if (size > current.mask() + 1) {
            ReceiveEntries larger = ReceiveEntries.create(file, size, stride, tail, current);
            current.grow(larger);
            entries = larger;
        }
        depth = receives;
        return true;
    }

    /// Arms the limit, 0 to disarm.
    public void armLimit(int limit) {
        SharedWords.publishInt(memory, offset + LIMIT, limit);
    }

    /// The armed limit, 0 when none is armed.
    public int limit() {
        return SharedWords.acquireInt(memory, offset + LIMIT);
    }

    /// Whether a peer that has died had taken the receive at `position`, unless so long ago that its entry
    /// was used again; the owner.
    ///
    /// @param lid of the peer's context
    /// @param number of the peer's queue pair
    public boolean isTaken(long position, int lid, int number) {
        if (sharedNumber != 0) {
            long entry = entries.at(position);
            boolean taken = SharedWords.acquire(memory, entry + ENTRY_TAKER) == word(position, taker(lid, number));
            if (taken) {
                SharedWords.compareAndSet(memory, offset + HEAD, position, position + 1);
            }
            return taken;
        }
        if (position >= takenBack) {
            return false;
        }
        long ago = SharedWords.acquire(memory, offset + HEAD) - position;
        return ago > 0 && ago <= entries.mask() + 1;
    }

    /// Whether a receive that was posted, and that its taker may still be filling, may have named the region with
    /// this key; any thread. True for every shared queue, whose entries are reused while other takers still fill
    /// receives.
    public boolean mayName(int key) {
        if (sharedNumber != 0) {
            return true;
        }
        return names(key, 0, entries.mask() + 1);
    }

    /// Whether a receive that was posted at `first` or later names the region with this key; any thread.
    public boolean names(int key, long first) {
        return names(key, first, SharedWords.acquire(memory, offset + TAIL));
    }

    private boolean names(int key, long first, long end) {
        ReceiveEntries all = entries;
        for (long position = first; position < end && position - first <= all.mask(); position++) {
            long entry = all.at(position);
            int count = Math.min(memory.get(JAVA_INT, entry + ENTRY_COUNT), elements);
            for (int i = 0; i < count; i++) {
                long element = entry + ENTRY_ELEMENTS + (long) i * ReceiveRequestLayout.ELEMENT_BYTES;
                if (memory.get(JAVA_INT, element + ReceiveRequestLayout.ELEMENT_KEY) == key) {
                    return true;
                }
            }
        }
        return false;
    }

    /// Frees the memory.
    public void free() {
        entries.free(file);
        ReceiveLines with = lines;
        if (with != null) {
            with.free();
        }
    }
}
