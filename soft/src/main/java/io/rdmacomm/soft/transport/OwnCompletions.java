package io.rdmacomm.soft.transport;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.soft.mapped.CompletionProducer;
import io.rdmacomm.verbs.spi.CompletionLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/// The completions of this context's own requests in one completion queue. No peer pushes to it, so it is on the
/// heap, where no other process can damage it and no producer can die half-way.
///
/// Any number of threads push; one at a time polls and resizes. A producer takes a slot by moving the tail, fills
/// it, and then publishes its position there. To resize, the consumer installs another ring and seals the tail of
/// the old one. Producers that find the seal go to the new ring, and the consumer follows when the old one is
/// empty. Pushing and polling allocate nothing.
public final class OwnCompletions {
    private static final VarHandle TAIL;
    private static final VarHandle HEAD;
    private static final VarHandle KNOWN_HEAD;
    private static final VarHandle WORDS = MethodHandles.arrayElementVarHandle(long[].class);

    // A slot: its published position plus one; work id; opcode, status and queue pair; vendor error and length.
    private static final int SLOT_WORDS = 4;
    private static final int OPCODE_SHIFT = 48;
    private static final int STATUS_SHIFT = 32;
    private static final int STATUS_MASK = 0xffff;
    private static final long SEAL = Long.MIN_VALUE;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            TAIL = lookup.findVarHandle(Ring.class, "tail", long.class);
            HEAD = lookup.findVarHandle(Ring.class, "head", long.class);
            KNOWN_HEAD = lookup.findVarHandle(Ring.class, "knownHead", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final CompletionProducer queue;
    private final Runnable announce;
    private final Runnable overrun;
    private volatile Ring newest;
    private Ring current;

    private static final class Ring {
        final long[] words;
        final int mask;
        volatile @Nullable Ring next;

        @SuppressWarnings("UnusedVariable") // read and written through TAIL
        private volatile long tail;

        @SuppressWarnings("UnusedVariable") // written through HEAD
        private volatile long head;

        /// The head as a producer last saw it, so that producers rarely read the consumer's cache line.
        @SuppressWarnings("UnusedVariable") // read and written through KNOWN_HEAD
        private volatile long knownHead;

        Ring(int capacity) {
            int size = roundUp(capacity);
            this.words = new long[size * SLOT_WORDS];
            this.mask = size - 1;
        }

        /// Whether the slot at `position` was polled.
        boolean isFree(long position) {
            if (position - (long) KNOWN_HEAD.getAcquire(this) <= mask) {
                return true;
            }
            long now = (long) HEAD.getAcquire(this);
            KNOWN_HEAD.setRelease(this, now);
            return position - now <= mask;
        }
    }

    /// A queue with room for at least `capacity` completions.
    ///
    /// @param queue is armed, and breaks, together with this one
    /// @param announce called when an armed queue gets a completion
    /// @param overrun called when the queue had no room
    public OwnCompletions(int capacity, CompletionProducer queue, Runnable announce, Runnable overrun) {
        this.queue = queue;
        this.announce = announce;
        this.overrun = overrun;
        this.newest = new Ring(capacity);
        this.current = newest;
    }

    private static int roundUp(int capacity) {
        return Integer.highestOneBit(Math.max(2, capacity) * 2 - 1);
    }

    /// Appends a completion.
    ///
    /// @param number of the queue pair
    public void push(long workId, int status, int opcode, int bytes, int number, int vendorError) {
        while (true) {
            Ring ring = newest;
            long tail = (long) TAIL.getOpaque(ring);
            // A sealed tail is negative; the new ring was installed before the seal.
            if (tail >= 0 && !ring.isFree(tail)) {
                if ((long) TAIL.getAcquire(ring) == tail) {
                    queue.breakDown();
                    overrun.run();
                    return;
                }
            } else if (tail >= 0 && TAIL.compareAndSet(ring, tail, tail + 1)) {
                int slot = ((int) tail & ring.mask) * SLOT_WORDS;
                long[] words = ring.words;
                words[slot + 1] = workId;
                words[slot + 2] = (long) opcode << OPCODE_SHIFT | (long) status << STATUS_SHIFT | number;
                words[slot + 3] = (long) bytes << Integer.SIZE | Integer.toUnsignedLong(vendorError);
                WORDS.setRelease(words, slot, tail + 1);
                // Errors count as solicited (ibv_req_notify_cq(3)).
                if (queue.disarmFor(status != 0) != 0) {
                    announce.run();
                }
                return;
            }
            Thread.onSpinWait();
        }
    }

    /// The number of completions it holds, not counting those left in older rings.
    public int capacity() {
        return newest.mask + 1;
    }

    /// Moves completions to `into`, until there are `max`; one thread at a time.
    ///
    /// @param from how many `into` has before
    /// @return how many it has now
    public int poll(MemorySegment into, int from, int max) {
        Ring ring = current;
        long head = ring.head;
        int count = from;
        while (count < max) {
            long[] words = ring.words;
            int slot = ((int) head & ring.mask) * SLOT_WORDS;
            if ((long) WORDS.getAcquire(words, slot) == head + 1) {
                copy(words, slot, into, (long) count * CompletionLayout.BYTES);
                count++;
                head++;
                continue;
            }
            Ring next = ring.next;
            if (next == null || (long) TAIL.getAcquire(ring) != (head | SEAL)) {
                break;
            }
            ring = next;
            current = next;
            head = next.head;
        }
        if (count > from) {
            HEAD.setRelease(ring, head);
        }
        return count;
    }

    /// Whether a poll would find nothing; the thread that polls.
    public boolean isEmpty() {
        Ring ring = current;
        long head = ring.head;
        return (long) WORDS.getAcquire(ring.words, ((int) head & ring.mask) * SLOT_WORDS) != head + 1
                && ring.next == null;
    }

    private static void copy(long[] words, int slot, MemorySegment into, long at) {
        long kind = words[slot + 2];
        long sizes = words[slot + 3];
        long status = kind >>> STATUS_SHIFT & STATUS_MASK;
        into.set(JAVA_LONG, at + CompletionLayout.WORK_ID, words[slot + 1]);
        // Each store writes two fields, in the order of the structure.
        into.set(JAVA_LONG, at + CompletionLayout.STATUS, kind >>> OPCODE_SHIFT << Integer.SIZE | status);
        into.set(JAVA_LONG, at + CompletionLayout.VENDOR_ERROR, sizes);
        into.set(JAVA_LONG, at + CompletionLayout.IMMEDIATE, kind << Integer.SIZE);
        into.set(JAVA_LONG, at + CompletionLayout.SOURCE_QUEUE_PAIR, 0L);
        into.set(JAVA_LONG, at + CompletionLayout.PARTITION_KEY_INDEX, 0L);
    }

    /// Installs a ring with room for at least `capacity` completions; the thread that polls.
    ///
    /// @return false if the queue holds more completions than that
    public boolean resize(int capacity) {
        if (!fits(capacity)) {
            return false;
        }
        Ring old = newest;
        Ring added = new Ring(capacity);
        old.next = added;
        newest = added;
        long tail = (long) TAIL.getAcquire(old);
        while (!TAIL.compareAndSet(old, tail, tail | SEAL)) {
            tail = (long) TAIL.getAcquire(old);
        }
        return true;
    }

    /// Whether a ring for `capacity` completions has room for the unpolled ones.
    public boolean fits(int capacity) {
        long count = 0;
        for (Ring each = current; each != null; each = each.next) {
            count += ((long) TAIL.getAcquire(each) & ~SEAL) - each.head;
        }
        return count <= roundUp(capacity);
    }
}
