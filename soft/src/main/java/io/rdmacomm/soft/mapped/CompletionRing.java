package io.rdmacomm.soft.mapped;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/// A completion queue in shared memory: many producers in several processes, one consumer at a time.
///
/// ```
/// queue  +0 ring offset | +8 number | +12 has a channel | +16 broken      read by producers
///        +64 armed: 0 no, 1 any, 2 solicited                              written by both sides
/// ring   +0 mask | +8 offset of the ring after it | +64 tail | +128 slots of 64 bytes
/// slot   +0 word: position << 20 | LID << 4 | kind | +8 completion, 48 bytes
/// ```
/// A producer claims the slot at the tail by replacing FREE with CLAIMED and its LID, fills it, and makes it
/// FULL. Because the claim names its owner, the consumer can skip a slot whose producer died half-way. To resize,
/// the consumer puts a new ring up and seals the old one at its tail: producers that meet the seal go to the new
/// ring, and so does the consumer when it gets there. A ring that is full has no place for a seal: its producers
/// find the new ring because it is full, and the consumer seals every slot that it empties.
public final class CompletionRing {
    /// [#push]: the completion is in the queue.
    public static final int PUSHED = 0;
    /// [#push]: the completion is in the queue, and its owner waits to be told.
    public static final int NOTIFY = 1;
    /// [#push]: the queue was full; it is broken now.
    public static final int OVERRUN = 2;

    private static final int QUEUE_BYTES = 128;
    private static final int QUEUE_RING = 0;
    private static final int QUEUE_NUMBER = 8;
    private static final int QUEUE_CHANNEL = 12;
    private static final int QUEUE_BROKEN = 16;
    private static final int QUEUE_ARMED = 64;

    private static final int RING_MASK = 0;
    private static final int RING_NEXT = 8;
    private static final int RING_TAIL = 64;
    private static final int RING_SLOTS = 128;
    private static final int SLOT_BYTES = 64;
    private static final int SLOT_BODY = 8;
    private static final int BODY_BYTES = 48;

    private static final int FREE = 0;
    private static final int CLAIMED = 1;
    private static final int FULL = 2;
    private static final int SEALED = 3;
    private static final int VOID = 4;
    private static final int KIND_MASK = 15;
    private static final int POSITION_SHIFT = 20;

    private final ControlFile file;
    private final MemorySegment memory;
    private final long queue;
    private long ring;
    private long mask;
    private long head;

    private CompletionRing(ControlFile file, long queue, long ring, long mask) {
        this.file = file;
        this.memory = file.memory();
        this.queue = queue;
        this.ring = ring;
        this.mask = mask;
    }

    /// Creates a queue with room for at least `capacity` completions.
    ///
    /// @param number what a wake-up calls it
    /// @param hasChannel whether anybody will ever arm it
    /// @throws IOException if there is no room
    public static CompletionRing create(ControlFile file, int capacity, int number, boolean hasChannel)
            throws IOException {
        MemorySegment memory = file.memory();
        long size = roundUp(capacity);
        long ring = createRing(file, size);
        long queue = file.allocate(QUEUE_BYTES);
        memory.set(JAVA_INT, queue + QUEUE_NUMBER, number);
        memory.set(JAVA_INT, queue + QUEUE_CHANNEL, hasChannel ? 1 : 0);
        SharedWords.publish(memory, queue + QUEUE_RING, ring);
        return new CompletionRing(file, queue, ring, size - 1);
    }

    private static long createRing(ControlFile file, long size) throws IOException {
        long ring = file.allocate(ringBytes(size));
        file.memory().set(JAVA_LONG, ring + RING_MASK, size - 1);
        for (long i = 0; i < size; i++) {
            file.memory().set(JAVA_LONG, ring + RING_SLOTS + i * SLOT_BYTES, word(i, 0, FREE));
        }
        return ring;
    }

    private static long ringBytes(long size) {
        return RING_SLOTS + size * SLOT_BYTES;
    }

    private static long roundUp(int capacity) {
        return Integer.toUnsignedLong(Integer.highestOneBit(Math.max(2, capacity) * 2 - 1));
    }

    /// Where the queue is in the control file.
    public long offset() {
        return queue;
    }

    /// The number of completions it holds, not counting those left in older rings.
    public int capacity() {
        return (int) mask(newest()) + 1;
    }

    /// The ring that producers fill.
    private long newest() {
        return SharedWords.acquire(memory, queue + QUEUE_RING);
    }

    private long mask(long theRing) {
        return memory.get(JAVA_LONG, theRing + RING_MASK);
    }

    private long next(long theRing) {
        return SharedWords.opaque(memory, theRing + RING_NEXT);
    }

    /// Whether it overran.
    public boolean isBroken() {
        return SharedWords.opaqueInt(memory, queue + QUEUE_BROKEN) != 0;
    }

    /// Moves up to `max` completions to the start of `into`; one thread at a time.
    ///
    /// @return how many there were
    public int poll(MemorySegment into, int max) {
        int count = 0;
        int emptied = next(ring) == 0 ? FREE : SEALED;
        while (count < max) {
            long slot = slot(ring, mask, head);
            long word = SharedWords.acquire(memory, slot);
            if (word >>> POSITION_SHIFT != head) {
                break;
            }
            int kind = (int) word & KIND_MASK;
            if (kind == FULL) {
                copyBody(memory, slot + SLOT_BODY, into, (long) count * BODY_BYTES);
                count++;
            } else if (kind == SEALED) {
                followSeal();
                emptied = next(ring) == 0 ? FREE : SEALED;
                continue;
            } else if (kind != VOID) {
                break;
            }
            SharedWords.release(memory, slot, word(head + mask + 1, 0, emptied));
            head++;
        }
        return count;
    }

    private static void copyBody(MemorySegment from, long at, MemorySegment into, long to) {
        into.set(JAVA_LONG, to, from.get(JAVA_LONG, at));
        into.set(JAVA_LONG, to + 8, from.get(JAVA_LONG, at + 8));
        into.set(JAVA_LONG, to + 16, from.get(JAVA_LONG, at + 16));
        into.set(JAVA_LONG, to + 24, from.get(JAVA_LONG, at + 24));
        into.set(JAVA_LONG, to + 32, from.get(JAVA_LONG, at + 32));
        into.set(JAVA_LONG, to + 40, from.get(JAVA_LONG, at + 40));
    }

    /// The old ring is not given back: a producer may have read its offset just before and look at it much later.
    private void followSeal() {
        ring = next(ring);
        mask = mask(ring);
        head = 0;
    }

    /// Puts up a ring with room for at least `capacity` completions; one thread at a time, the one that polls.
    ///
    /// @return false if more completions than that are in the queue
    /// @throws IOException if there is no room
    public boolean resize(int capacity) throws IOException {
        if (size() > roundUp(capacity)) {
            return false;
        }
        long last = newest();
        long added = createRing(file, roundUp(capacity));
        SharedWords.publish(memory, last + RING_NEXT, added);
        SharedWords.publish(memory, queue + QUEUE_RING, added);
        seal(last, mask(last));
        return true;
    }

    /// The number of completions in all rings.
    private long size() {
        long count = -head;
        for (long each = ring; each != 0; each = next(each)) {
            count += SharedWords.acquire(memory, each + RING_TAIL);
        }
        return count;
    }

    /// Ends a ring at its tail.
    private void seal(long theRing, long theMask) {
        while (true) {
            long at = SharedWords.acquire(memory, theRing + RING_TAIL);
            long slot = slot(theRing, theMask, at);
            if (SharedWords.compareAndSet(memory, slot, word(at, 0, FREE), word(at, 0, SEALED))) {
                return;
            }
            long position = SharedWords.acquire(memory, slot) >>> POSITION_SHIFT;
            if (position >= at) {
                SharedWords.compareAndSet(memory, theRing + RING_TAIL, at, at + 1);
            } else if (SharedWords.acquire(memory, theRing + RING_TAIL) == at) {
                return; // Full: the consumer seals the slot when it has emptied it.
            }
            Thread.onSpinWait();
        }
    }

    /// Asks producers to return [#NOTIFY] once, for the next completion or the next solicited one.
    public void arm(boolean solicitedOnly) {
        int wish = solicitedOnly ? 2 : 1;
        int now = SharedWords.acquireInt(memory, queue + QUEUE_ARMED);
        // Arming for any completion replaces arming for solicited ones, not the other way round.
        if (now != 1) {
            SharedWords.releaseInt(memory, queue + QUEUE_ARMED, wish);
        }
        // Also if it was armed already: the consumer now polls what was pushed before it arms.
        VarHandle.fullFence();
    }

    /// Whether somebody waits to be told.
    public boolean isArmed() {
        return SharedWords.acquireInt(memory, queue + QUEUE_ARMED) != 0;
    }

    /// Takes the arming back, as a producer does that is about to tell.
    ///
    /// @return whether it was armed
    public boolean disarm() {
        int now = SharedWords.acquireInt(memory, queue + QUEUE_ARMED);
        return now != 0 && SharedWords.compareAndSetInt(memory, queue + QUEUE_ARMED, now, 0);
    }

    /// Skips the slots that the dead context `lid` claimed and never filled.
    public void skipClaims(int lid) {
        for (long each = ring; each != 0; each = next(each)) {
            skipClaims(each, mask(each), lid);
        }
    }

    private void skipClaims(long theRing, long theMask, int lid) {
        for (long i = 0; i <= theMask; i++) {
            long slot = theRing + RING_SLOTS + i * SLOT_BYTES;
            long word = SharedWords.acquire(memory, slot);
            if ((word & KIND_MASK) == CLAIMED && (int) (word >>> 4 & 0xffff) == lid) {
                SharedWords.compareAndSet(memory, slot, word, (word & -(1L << POSITION_SHIFT)) | VOID);
            }
        }
    }

    /// Completes the slot that a dead producer had claimed at `position`.
    ///
    /// @return false if it was filled, or never claimed: nothing is owed
    public boolean fillClaim(long position, int lid, long workId, int status, int number) {
        long theRing = SharedWords.acquire(memory, queue + QUEUE_RING);
        long theMask = memory.get(JAVA_LONG, theRing + RING_MASK);
        long slot = slot(theRing, theMask, position);
        if (SharedWords.acquire(memory, slot) != word(position, lid, CLAIMED)) {
            return false;
        }
        CompletionFields fields = new CompletionFields();
        fields.set(workId, status, 0, 0, number);
        fields.writeTo(memory, slot + SLOT_BODY);
        SharedWords.release(memory, slot, word(position, 0, FULL));
        return true;
    }

    /// Gives the memory back; nobody polls or pushes any more.
    public void free() {
        long each = ring;
        while (each != 0) {
            long after = next(each);
            file.free(each, ringBytes(mask(each) + 1));
            each = after;
        }
        file.free(queue, QUEUE_BYTES);
    }

    /// Appends a completion to the queue at `queue` of the control file `memory`; any thread of any process.
    ///
    /// @param lid the producer's LID
    /// @param journal where in `own` to note the slot while it is being filled, or 0
    /// @param own the producer's control file
    /// @param completion the completion's fields
    /// @return [#PUSHED], [#NOTIFY] or [#OVERRUN]
    public static int push(
            MemorySegment memory, long queue, int lid, MemorySegment own, long journal, CompletionFields completion) {
        while (true) {
            long ring = SharedWords.acquire(memory, queue + QUEUE_RING);
            long mask = memory.get(JAVA_LONG, ring + RING_MASK);
            long tail = SharedWords.opaque(memory, ring + RING_TAIL);
            long slot = slot(ring, mask, tail);
            long word = SharedWords.acquire(memory, slot);
            long position = word >>> POSITION_SHIFT;
            if (position == tail) {
                int kind = (int) word & KIND_MASK;
                if (kind == FREE) {
                    if (SharedWords.compareAndSet(memory, slot, word, word(tail, lid, CLAIMED))) {
                        // A hint, not the truth, which is in the slots: it may fall back, and is helped on again.
                        SharedWords.release(memory, ring + RING_TAIL, tail + 1);
                        if (journal != 0) {
                            SharedWords.release(own, journal, tail + 1);
                        }
                        completion.writeTo(memory, slot + SLOT_BODY);
                        SharedWords.release(memory, slot, word(tail, 0, FULL));
                        return announce(memory, queue, completion);
                    }
                } else if (kind != SEALED) {
                    SharedWords.compareAndSet(memory, ring + RING_TAIL, tail, tail + 1);
                }
            } else if (position > tail) {
                SharedWords.compareAndSet(memory, ring + RING_TAIL, tail, tail + 1);
            } else if (SharedWords.acquire(memory, ring + RING_TAIL) == tail
                    && SharedWords.acquire(memory, queue + QUEUE_RING) == ring) {
                SharedWords.publishInt(memory, queue + QUEUE_BROKEN, 1);
                return OVERRUN;
            }
            Thread.onSpinWait();
        }
    }

    /// The number of the queue at `queue`, for wake-ups.
    public static int number(MemorySegment memory, long queue) {
        return memory.get(JAVA_INT, queue + QUEUE_NUMBER);
    }

    private static int announce(MemorySegment memory, long queue, CompletionFields completion) {
        if (memory.get(JAVA_INT, queue + QUEUE_CHANNEL) == 0) {
            return PUSHED;
        }
        // The completion must be visible before the arming is read: the consumer arms, then polls.
        VarHandle.fullFence();
        int armed = SharedWords.opaqueInt(memory, queue + QUEUE_ARMED);
        if (armed == 0 || (armed == 2 && !completion.wakesSolicited())) {
            return PUSHED;
        }
        return SharedWords.compareAndSetInt(memory, queue + QUEUE_ARMED, armed, 0) ? NOTIFY : PUSHED;
    }

    private static long slot(long ring, long mask, long position) {
        return ring + RING_SLOTS + (position & mask) * SLOT_BYTES;
    }

    private static long word(long position, int lid, int kind) {
        return (position << POSITION_SHIFT) | ((long) lid << 4) | kind;
    }
}
