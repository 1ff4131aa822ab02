package io.rdmacomm.tests.soak;

import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.ReceiveBatch;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/// Receives, each with a place in memory for one message. For one thread.
final class Inbox {
    /// Tells ids of receives from those of requests.
    static final long MARK = 1L << 62;

    private final ReceiveLedger ledger;
    private final MemoryRegion region;
    private final long start;
    private final long stride;
    private final long slot;
    private final ToIntFunction<ReceiveBatch> queue;
    private final ReceiveBatch batch = ReceiveBatch.create(Arena.ofAuto(), 1, 2);

    Inbox(
            ReceiveLedger ledger,
            MemoryRegion region,
            long start,
            long stride,
            long slot,
            ToIntFunction<ReceiveBatch> queue) {
        this.ledger = ledger;
        this.region = region;
        this.start = start;
        this.stride = stride;
        this.slot = slot;
        this.queue = queue;
    }

    ReceiveLedger ledger() {
        return ledger;
    }

    MemorySegment memory() {
        return region.segment();
    }

    /// Posts the receive of a place: in every second one, of two elements.
    void post(int place) {
        batch.clear().receive(MARK | ledger.post(place));
        long first = place % 2 == 0 ? slot : slot / 3;
        batch.with(region, at(place), first);
        if (first < slot) {
            batch.with(region, at(place) + first, slot - first);
        }
        if (queue.applyAsInt(batch) != 1) {
            throw new AssertionError("a receive queue is full, though one of its receives has ended");
        }
    }

    /// Notes a completion; returns the violated rule.
    @Nullable
    String completed(long id, boolean inOrder) {
        return ledger.completed(id & ~MARK, inOrder);
    }

    int place(long id) {
        return ledger.place(id & ~MARK);
    }

    long at(int place) {
        return start + place * stride;
    }

    /// Returns whether the memory after a place is as it was.
    boolean isGuarded(int place) {
        return Content.isGuarded(memory(), at(place) + slot);
    }
}
