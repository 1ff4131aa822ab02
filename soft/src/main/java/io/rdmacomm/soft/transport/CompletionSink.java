package io.rdmacomm.soft.transport;

import io.rdmacomm.soft.mapped.CompletionFields;
import io.rdmacomm.soft.mapped.CompletionProducer;
import io.rdmacomm.soft.mapped.CompletionRing;
import io.rdmacomm.verbs.service.OperationLock;
import java.lang.foreign.MemorySegment;

/// The producers' end of a completion queue of this context, for the context's own queue pairs. Thread-safe;
/// allocates nothing.
public final class CompletionSink {
    private final MemorySegment memory;
    private final CompletionRing ring;
    private final CompletionProducer producer;
    private final Runnable announce;
    private final Runnable overrun;
    private final OperationLock linesLock;

    /// Pushes to `ring`.
    ///
    /// @param memory the control file
    /// @param lid of this context
    /// @param announce called when an armed queue gets a completion
    /// @param overrun called when the queue had no room
    /// @param linesLock held while messages are taken from lines of queue pairs
    public CompletionSink(
            MemorySegment memory,
            int lid,
            CompletionRing ring,
            Runnable announce,
            Runnable overrun,
            OperationLock linesLock) {
        this.memory = memory;
        this.ring = ring;
        this.producer = ring.producer(lid);
        this.announce = announce;
        this.overrun = overrun;
        this.linesLock = linesLock;
    }

    /// Appends a completion.
    public void push(CompletionFields completion) {
        long result = producer.push(memory, 0, completion);
        if (result == CompletionRing.OVERRUN) {
            overrun.run();
        } else if (result != CompletionRing.PUSHED) {
            announce.run();
        }
    }

    /// Runs something while no thread polls the lines of queue pairs.
    public void whileNotPolled(Runnable action) {
        linesLock.lock();
        try {
            action.run();
        } finally {
            linesLock.unlock();
        }
    }

    /// The context `lid` has stopped: completions after the slots it claimed do not wait for it.
    public void passClaims(int lid) {
        if (ring.passClaims(lid) && ring.disarm()) {
            announce.run();
        }
    }

    /// Completes the slot that a dead producer had claimed; see [CompletionRing#fillClaim].
    public void fillClaim(long position, int lid, long workId, int status, int number) {
        // The owner may have armed the queue after the connection with the producer's process had ended.
        if (ring.fillClaim(position, lid, workId, status, number)) {
            var _ = ring.disarm();
            announce.run();
        }
    }

    /// The ring itself.
    public CompletionRing ring() {
        return ring;
    }
}
