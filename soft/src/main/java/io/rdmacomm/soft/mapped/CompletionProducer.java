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
import static io.rdmacomm.soft.mapped.CompletionSlots.QUEUE_RING;
import static io.rdmacomm.soft.mapped.CompletionSlots.RING_TAIL;
import static io.rdmacomm.soft.mapped.CompletionSlots.SEALED;
import static io.rdmacomm.soft.mapped.CompletionSlots.SLOT_BODY;
import static io.rdmacomm.soft.mapped.CompletionSlots.SOLICITED;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/// The producers' end of a [CompletionRing], for one context. Any number of threads may push.
///
/// Values that the owner of the queue never changes are read and checked once: the channel at first, the size of a
/// ring when it is first seen. A push ends, whatever else is in the shared memory.
public final class CompletionProducer {
    /// The consumer arms less often than this while a producer disarms, unless a faulty process changes the word.
    private static final int DISARM_ROUNDS = 1 << 10;

    private final MemorySegment memory;
    private final long queue;
    private final int lid;
    private final boolean hasChannel;
    // A data race without harm: a record is always seen complete, and a stale one is only read again.
    private Ring known;

    private record Ring(long offset, long mask) {}

    private CompletionProducer(MemorySegment memory, long queue, int lid, Ring ring) {
        this.memory = memory;
        this.queue = queue;
        this.lid = lid;
        this.hasChannel = memory.get(JAVA_INT, queue + QUEUE_CHANNEL) != 0;
        this.known = ring;
    }

    /// A producer for the queue at `queue` of the control file `memory`.
    ///
    /// @param lid of this context
    /// @return null if no queue can be there
    public static @Nullable CompletionProducer find(MemorySegment memory, long queue, int lid) {
        if (!ControlLayout.isInHeap(queue, QUEUE_BYTES)) {
            return null;
        }
        Ring ring = ringAt(memory, SharedWords.acquire(memory, queue + QUEUE_RING));
        return ring == null ? null : new CompletionProducer(memory, queue, lid, ring);
    }

    /// A producer for a queue of this context.
    static CompletionProducer of(MemorySegment memory, long queue, int lid, long ring, long mask) {
        return new CompletionProducer(memory, queue, lid, new Ring(ring, mask));
    }

    private static @Nullable Ring ringAt(MemorySegment memory, long offset) {
        long mask = CompletionSlots.mask(memory, offset);
        return mask < 0 ? null : new Ring(offset, mask);
    }

    /// Where the queue is in its control file.
    public long queue() {
        return queue;
    }

    /// Appends a completion.
    ///
    /// @param own the control file of this context
    /// @param journal where in `own` to note the slot while it is being filled, or 0
    /// @param completion the completion's fields
    /// @return [CompletionRing#PUSHED] or [CompletionRing#OVERRUN], or the word of the armed queue if its owner
    ///         waits for an announcement
    public long push(MemorySegment own, long journal, CompletionFields completion) {
        for (long round = 0; ; round++) {
            Ring ring = newestRing();
            if (ring == null || round > CompletionSlots.mostRounds(ring.mask)) {
                return overrun();
            }
            long tail = SharedWords.opaque(memory, ring.offset + RING_TAIL);
            long slot = CompletionSlots.slot(ring.offset, ring.mask, tail);
            long word = SharedWords.acquire(memory, slot);
            long ahead = CompletionSlots.ahead(word, tail);
            if (ahead == 0 && CompletionSlots.kind(word) == FREE) {
                if (SharedWords.compareAndSet(memory, slot, word, CompletionSlots.word(tail, lid, CLAIMED))) {
                    // Only a hint, because the slots decide. It may go back, and then others advance it.
                    SharedWords.release(memory, ring.offset + RING_TAIL, tail + 1);
                    if (journal != 0) {
                        SharedWords.release(own, journal, tail + 1);
                    }
                    completion.writeTo(memory, slot + SLOT_BODY);
                    SharedWords.release(memory, slot, CompletionSlots.word(tail, 0, FULL));
                    return disarmFor(completion.wakesSolicited());
                }
            } else if (!findsRoom(ring, tail, word, ahead)) {
                return overrun();
            }
            Thread.onSpinWait();
        }
    }

    /// The ring that producers fill, or null if no ring can be there.
    private @Nullable Ring newestRing() {
        long offset = SharedWords.acquire(memory, queue + QUEUE_RING);
        Ring ring = known;
        return ring.offset == offset ? ring : seeNew(offset);
    }

    private @Nullable Ring seeNew(long offset) {
        Ring ring = ringAt(memory, offset);
        if (ring != null) {
            known = ring;
        }
        return ring;
    }

    /// Looks for another slot when this one is not free.
    ///
    /// @return false if the queue is full
    private boolean findsRoom(Ring ring, long tail, long word, long ahead) {
        if (ahead < 0) {
            // Full, unless other threads have advanced the tail meanwhile.
            return SharedWords.acquire(memory, ring.offset + RING_TAIL) != tail || isReplaced(ring);
        }
        if (ahead == 0 && CompletionSlots.kind(word) == SEALED) {
            // A new ring is published before the old one is sealed.
            return isReplaced(ring);
        }
        CompletionSlots.helpTail(memory, ring.offset, ring.mask, tail, ahead);
        return true;
    }

    private boolean isReplaced(Ring ring) {
        return SharedWords.acquire(memory, queue + QUEUE_RING) != ring.offset;
    }

    private long overrun() {
        breakDown();
        return CompletionRing.OVERRUN;
    }

    /// Marks the queue as broken: it has lost a completion.
    public void breakDown() {
        SharedWords.publishInt(memory, queue + QUEUE_BROKEN, 1);
    }

    /// Disarms the queue if its owner waits for a completion like the one that was just pushed.
    ///
    /// @param solicited whether it wakes those that wait for solicited events only
    /// @return the word of the armed queue if the owner must be notified, otherwise 0
    public long disarmFor(boolean solicited) {
        if (!hasChannel) {
            return 0;
        }
        // The completion must be visible before the arming is read: the consumer arms, then polls.
        VarHandle.fullFence();
        for (int round = 0; round < DISARM_ROUNDS; round++) {
            long armed = SharedWords.opaque(memory, queue + QUEUE_ARMED);
            if (armed == 0 || ((armed & EVENTS) == SOLICITED && !solicited)) {
                return 0;
            }
            if (SharedWords.compareAndSet(memory, queue + QUEUE_ARMED, armed, 0)) {
                // No owner makes it negative: a process has destroyed it.
                return armed < 0 ? ANY : armed;
            }
            // Another producer was faster, or the consumer has armed again, for other events or with another bell.
        }
        return 0;
    }
}
