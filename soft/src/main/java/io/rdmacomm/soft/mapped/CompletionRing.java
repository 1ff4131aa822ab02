package io.rdmacomm.soft.mapped;

import static io.rdmacomm.soft.mapped.CompletionSlots.ANY;
import static io.rdmacomm.soft.mapped.CompletionSlots.CLAIMED;
import static io.rdmacomm.soft.mapped.CompletionSlots.EVENTS;
import static io.rdmacomm.soft.mapped.CompletionSlots.FREE;
import static io.rdmacomm.soft.mapped.CompletionSlots.FULL;
import static io.rdmacomm.soft.mapped.CompletionSlots.QUEUE_ARMED;
import static io.rdmacomm.soft.mapped.CompletionSlots.QUEUE_BROKEN;
import static io.rdmacomm.soft.mapped.CompletionSlots.QUEUE_BYTES;
import static io.rdmacomm.soft.mapped.CompletionSlots.QUEUE_CHANNEL;
import static io.rdmacomm.soft.mapped.CompletionSlots.QUEUE_NUMBER;
import static io.rdmacomm.soft.mapped.CompletionSlots.QUEUE_RING;
import static io.rdmacomm.soft.mapped.CompletionSlots.RING_MASK;
import static io.rdmacomm.soft.mapped.CompletionSlots.RING_SLOTS;
import static io.rdmacomm.soft.mapped.CompletionSlots.RING_TAIL;
import static io.rdmacomm.soft.mapped.CompletionSlots.SEALED;
import static io.rdmacomm.soft.mapped.CompletionSlots.SLOT_BODY;
import static io.rdmacomm.soft.mapped.CompletionSlots.SLOT_BYTES;
import static io.rdmacomm.soft.mapped.CompletionSlots.SOLICITED;
import static io.rdmacomm.soft.mapped.CompletionSlots.VOID;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.Iterator;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// A completion queue in shared memory: many producers in several processes, one consumer at a time. This is the
/// consumer's end, in the process that owns the queue; the others have a [CompletionProducer].
///
/// ```
/// queue  +0 ring offset | +8 number | +12 has a channel | +16 broken      read by producers
///        +64 armed: bell << 8 | bit << 2 | events: 0 no, 1 any, 2 solicited   written by both sides
/// ring   +0 mask | +64 tail | +128 slots of 64 bytes
/// slot   +0 word: position << 20 | LID << 4 | kind | +8 completion, 48 bytes
/// ```
///
/// A producer claims the slot at the tail by replacing FREE with CLAIMED and its LID, fills it, and makes it
/// FULL. Because the claim names its owner, the consumer can skip a slot whose producer died half-way. To resize,
/// the consumer publishes a new ring and seals the old one at its tail. Producers that find the seal go to the new
/// ring, and so does the consumer when it reaches the seal. A full ring has no slot for a seal. Its producers look
/// for a new ring because it is full, and the consumer seals every slot that it empties.
///
/// A process that is stopped, and not dead, may still fill its claim. If its peers give it up, the consumer passes
/// the slot, and checks it again with each poll until it is filled or void. Such a slot is never used again,
/// because the consumer first replaces the ring that it is in.
///
/// The consumer keeps in its own memory where its rings are. Of the shared memory it trusts only the slots and the
/// tail. A slot that no correct process can have written breaks the queue, as an overrun does.
public final class CompletionRing {
    /// Most completions that a queue holds.
    public static final int MOST_COMPLETIONS = CompletionSlots.MOST;

    /// [CompletionProducer#push]: the completion is in the queue.
    public static final long PUSHED = 0;
    /// [CompletionProducer#push]: the queue was full; it is broken now.
    public static final long OVERRUN = -1;

    private static final int BODY_BYTES = 48;

    private final ControlFile file;
    private final MemorySegment memory;
    private final long queue;
    private final int number;
    private final Ring first;
    private volatile Ring newest;
    private Ring current;
    private long ring;
    private long mask;
    private long head;
    private volatile Set<Claim> stuck = Set.of();
    private final ArrayDeque<Claim> passed = new ArrayDeque<>();

    /// A claimed slot and its word.
    private record Claim(long slot, long word, long mask) {}

    private static final class Ring {
        final long offset;
        final long mask;
        volatile @Nullable Ring next;

        Ring(long offset, long mask) {
            this.offset = offset;
            this.mask = mask;
        }
    }

    private CompletionRing(ControlFile file, long queue, int number, Ring first, long position) {
        this.file = file;
        this.memory = file.memory();
        this.queue = queue;
        this.number = number;
        this.first = first;
        this.newest = first;
        this.current = first;
        this.ring = first.offset;
        this.mask = first.mask;
        this.head = position;
    }

    /// Creates a queue with room for at least `capacity` completions.
    ///
    /// @param number its number in wake-ups
    /// @param hasChannel whether it may be armed
    /// @throws IOException if there is no room
    public static CompletionRing create(ControlFile file, int capacity, int number, boolean hasChannel)
            throws IOException {
        return create(file, capacity, number, hasChannel, 0);
    }

    /// As above, with the position of the first completion.
    static CompletionRing create(ControlFile file, int capacity, int number, boolean hasChannel, long position)
            throws IOException {
        MemorySegment memory = file.memory();
        Ring ring = createRing(file, roundUp(capacity), position);
        long queue = file.allocate(QUEUE_BYTES);
        memory.set(JAVA_INT, queue + QUEUE_NUMBER, number);
        memory.set(JAVA_INT, queue + QUEUE_CHANNEL, hasChannel ? 1 : 0);
        SharedWords.publish(memory, queue + QUEUE_RING, ring.offset);
        return new CompletionRing(file, queue, number, ring, position);
    }

    private static Ring createRing(ControlFile file, long size, long position) throws IOException {
        long ring = file.allocate(CompletionSlots.ringBytes(size));
        MemorySegment memory = file.memory();
        memory.set(JAVA_LONG, ring + RING_MASK, size - 1);
        memory.set(JAVA_LONG, ring + RING_TAIL, position);
        for (long i = position; i < position + size; i++) {
            memory.set(JAVA_LONG, CompletionSlots.slot(ring, size - 1, i), CompletionSlots.word(i, 0, FREE));
        }
        return new Ring(ring, size - 1);
    }

    private static long roundUp(int capacity) {
        return Integer.toUnsignedLong(Integer.highestOneBit(Math.max(2, capacity) * 2 - 1));
    }

    /// Where the queue is in the control file.
    public long offset() {
        return queue;
    }

    /// The producers' end for this context.
    ///
    /// @param lid of this context
    public CompletionProducer producer(int lid) {
        Ring to = newest;
        return CompletionProducer.of(memory, queue, lid, to.offset, to.mask);
    }

    /// The number of completions it holds, not counting those left in older rings.
    public int capacity() {
        return (int) newest.mask + 1;
    }

    /// Whether it overran.
    public boolean isBroken() {
        return SharedWords.opaqueInt(memory, queue + QUEUE_BROKEN) != 0;
    }

    /// The number of completions at the head, up to `max`; the thread that polls. Anything else at the head that a
    /// poll has to handle counts as one.
    public int ready(int max) {
        for (int count = 0; count < max; count++) {
            long position = head + count;
            long word = SharedWords.acquire(memory, CompletionSlots.slot(ring, mask, position));
            if (word != CompletionSlots.word(position, 0, FULL)) {
                boolean isFree = word == CompletionSlots.word(position, 0, FREE) && passed.isEmpty();
                return count > 0 || isFree ? count : 1;
            }
        }
        return max;
    }

    /// Appends completions to `into`, which has `from` of them, until it has `max`; one thread at a time.
    ///
    /// @return how many it has now
    public int poll(MemorySegment into, int from, int max) {
        int count = passed.isEmpty() ? from : pollPassed(into, from, max);
        int emptied = current.next == null ? FREE : SEALED;
        while (count < max) {
            long slot = CompletionSlots.slot(ring, mask, head);
            long word = SharedWords.acquire(memory, slot);
            int kind = CompletionSlots.kind(word);
            if (CompletionSlots.ahead(word, head) != 0 || kind > VOID) {
                if (isPassed(slot, word) && followSeal()) {
                    continue; // The ring was replaced while it was full: this slot stands for the seal.
                }
                breakDown();
                break;
            }
            if (kind == FULL) {
                copyBody(memory, slot + SLOT_BODY, into, (long) count * BODY_BYTES);
                count++;
            } else if (kind == SEALED) {
                if (!followSeal()) {
                    breakDown();
                    break;
                }
                emptied = current.next == null ? FREE : SEALED;
                continue;
            } else if (kind == CLAIMED && !stuck.isEmpty() && pass(new Claim(slot, word, mask))) {
                emptied = SEALED;
                continue;
            } else if (kind != VOID) {
                break;
            }
            SharedWords.release(memory, slot, CompletionSlots.word(head + mask + 1, 0, emptied));
            head++;
        }
        return count;
    }

    /// Skips a slot whose claim is stuck.
    ///
    /// @return false if it is not, or there is no room for another ring
    private boolean pass(Claim claim) {
        if (!stuck.contains(claim) || (current.next == null && !replace())) {
            return false;
        }
        passed.add(claim);
        head++;
        return true;
    }

    private boolean replace() {
        try {
            return resize(capacity());
        } catch (IOException e) {
            return false;
        }
    }

    private boolean isPassed(long slot, long word) {
        return passed.stream().anyMatch(claim -> claim.slot == slot && claim.word == word);
    }

    /// Polls the slots that were passed.
    private int pollPassed(MemorySegment into, int from, int max) {
        int count = from;
        Iterator<Claim> each = passed.iterator();
        while (count < max && each.hasNext()) {
            Claim claim = each.next();
            long word = SharedWords.acquire(memory, claim.slot);
            if (word != claim.word) {
                if (word == CompletionSlots.withKind(claim.word, FULL)) {
                    copyBody(memory, claim.slot + SLOT_BODY, into, (long) count * BODY_BYTES);
                    count++;
                }
                SharedWords.release(memory, claim.slot, CompletionSlots.sealBehind(claim.word, claim.mask));
                each.remove();
            }
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

    /// Goes to the next ring. The old one is not freed, because a producer may have read its offset and access it
    /// much later.
    ///
    /// @return false if there is no next ring
    private boolean followSeal() {
        Ring next = current.next;
        if (next == null) {
            return false;
        }
        current = next;
        ring = next.offset;
        mask = next.mask;
        head = 0;
        return true;
    }

    /// Marks the queue as broken: a slot holds a word that no correct process writes.
    private void breakDown() {
        SharedWords.publishInt(memory, queue + QUEUE_BROKEN, 1);
    }

    /// Publishes a new ring with room for at least `capacity` completions; one thread at a time, the one that
    /// polls.
    ///
    /// @return false if more completions than that are in the queue
    /// @throws IOException if there is no room
    public boolean resize(int capacity) throws IOException {
        if (!fits(capacity, 0)) {
            return false;
        }
        Ring last = newest;
        Ring added = createRing(file, roundUp(capacity), 0);
        last.next = added;
        newest = added;
        SharedWords.publish(memory, queue + QUEUE_RING, added.offset);
        seal(last.offset, last.mask);
        return true;
    }

    /// Whether a ring for `capacity` completions has room for those that wait to be polled, and for `more`.
    public boolean fits(int capacity, long more) {
        return size() + more <= roundUp(capacity);
    }

    /// The number of completions in all rings.
    private long size() {
        long count = passed.size() - head;
        for (Ring each = current; each != null; each = each.next) {
            count += SharedWords.acquire(memory, each.offset + RING_TAIL);
        }
        return count;
    }

    /// Ends a ring at its tail.
    private void seal(long theRing, long theMask) {
        for (long round = 0; round <= CompletionSlots.mostRounds(theMask); round++) {
            long at = SharedWords.acquire(memory, theRing + RING_TAIL);
            long slot = CompletionSlots.slot(theRing, theMask, at);
            long word = SharedWords.acquire(memory, slot);
            long ahead = CompletionSlots.ahead(word, at);
            if (ahead == 0 && CompletionSlots.kind(word) == FREE) {
                if (SharedWords.compareAndSet(memory, slot, word, CompletionSlots.word(at, 0, SEALED))) {
                    return;
                }
            } else if (ahead >= 0) {
                CompletionSlots.helpTail(memory, theRing, theMask, at, ahead);
            } else if (SharedWords.acquire(memory, theRing + RING_TAIL) == at) {
                return; // Full: the consumer seals the slot when it has emptied it.
            }
            Thread.onSpinWait();
        }
        breakDown();
    }

    /// Asks producers once, for the next completion or the next solicited one, to ring a bell or send a message.
    ///
    /// @param bell which one, null for a message
    /// @return whether it was armed before
    public boolean arm(boolean solicitedOnly, @Nullable Bell bell) {
        long name = bell == null ? 0 : Bell.name(bell.offset(), number);
        // Arming for any completion replaces arming for solicited ones, not the other way round.
        boolean any = !solicitedOnly || (SharedWords.acquire(memory, queue + QUEUE_ARMED) & EVENTS) == ANY;
        long before = SharedWords.getAndSet(memory, queue + QUEUE_ARMED, name | (any ? ANY : SOLICITED));
        // Even if the queue was armed already: the consumer polls next, and must find what was pushed before.
        VarHandle.fullFence();
        return before != 0;
    }

    /// Whether the owner waits for an announcement.
    public boolean isArmed() {
        return SharedWords.current(memory, queue + QUEUE_ARMED) != 0;
    }

    /// Disarms the ring, as a producer does before it announces.
    ///
    /// @return whether it was armed
    public boolean disarm() {
        return SharedWords.getAndSet(memory, queue + QUEUE_ARMED, 0) != 0;
    }

    /// Skips the slots that the dead context `lid` claimed and never filled.
    ///
    /// @return whether there were any
    public boolean skipClaims(int lid) {
        boolean any = false;
        for (Ring each = first; each != null; each = each.next) {
            any |= skipClaims(each, lid);
        }
        return any;
    }

    private boolean skipClaims(Ring in, int lid) {
        boolean any = false;
        for (long i = 0; i <= in.mask; i++) {
            long slot = in.offset + RING_SLOTS + i * SLOT_BYTES;
            long word = SharedWords.acquire(memory, slot);
            if (CompletionSlots.isClaimedBy(word, lid)) {
                any |= SharedWords.compareAndSet(memory, slot, word, CompletionSlots.withKind(word, VOID));
            }
        }
        return any;
    }

    /// Lets the consumer pass the slots that the context `lid` has claimed and does not fill, because it has
    /// stopped.
    ///
    /// @return whether there are any
    public boolean passClaims(int lid) {
        Set<Claim> claims = new HashSet<>();
        for (Ring each = first; each != null; each = each.next) {
            for (long i = 0; i <= each.mask; i++) {
                long slot = each.offset + RING_SLOTS + i * SLOT_BYTES;
                long word = SharedWords.acquire(memory, slot);
                if (CompletionSlots.isClaimedBy(word, lid)) {
                    claims.add(new Claim(slot, word, each.mask));
                }
            }
        }
        boolean any = !claims.isEmpty();
        synchronized (this) {
            stuck.stream()
                    .filter(claim -> SharedWords.acquire(memory, claim.slot) == claim.word)
                    .forEach(claims::add);
            stuck = Set.copyOf(claims);
        }
        return any;
    }

    /// Completes the slot that a dead producer had claimed at `position`.
    ///
    /// @return false if it was filled, or never claimed: nothing is owed
    public boolean fillClaim(long position, int lid, long workId, int status, int number) {
        // The journal does not name the ring: the producer may have died in one that was replaced and is not empty
        // yet.
        for (Ring each = first; each != null; each = each.next) {
            long slot = CompletionSlots.slot(each.offset, each.mask, position);
            if (SharedWords.acquire(memory, slot) == CompletionSlots.word(position, lid, CLAIMED)) {
                CompletionFields fields = new CompletionFields();
                fields.set(workId, status, 0, 0, number);
                fields.writeTo(memory, slot + SLOT_BODY);
                SharedWords.release(memory, slot, CompletionSlots.word(position, 0, FULL));
                return true;
            }
        }
        return false;
    }

    /// Frees the memory. No thread may poll or push now.
    public void free() {
        for (Ring each = first; each != null; each = each.next) {
            file.free(each.offset, CompletionSlots.ringBytes(each.mask + 1));
        }
        file.free(queue, QUEUE_BYTES);
    }

    /// The number of the queue at `queue`, for wake-ups.
    public static int number(MemorySegment memory, long queue) {
        return memory.get(JAVA_INT, queue + QUEUE_NUMBER);
    }
}
