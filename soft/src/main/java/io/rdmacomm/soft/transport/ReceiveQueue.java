package io.rdmacomm.soft.transport;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.soft.mapped.CompletionFields;
import io.rdmacomm.soft.mapped.ReceiveRing;
import io.rdmacomm.soft.memory.LocalMemory;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.spi.RequestChain;
import java.lang.foreign.MemorySegment;

/// The receives of a queue pair, or of its shared receive queue, and the completion queue where they complete.
public final class ReceiveQueue {
    private static final int FLUSHED = WorkStatus.FLUSHED.code();

    private final ReceiveRing ring;
    private final boolean shared;
    private final CompletionSink completions;
    private final ArrivedMessages messages;
    private final int number;
    private final CompletionFields fields = new CompletionFields();
    private final long[] taken = new long[1];
    private boolean givenBack;
    private long givenBackId;

    /// The receives of the queue pair with this number.
    ///
    /// @param shared whether `ring` is that of a shared receive queue
    /// @param memory of this context
    public ReceiveQueue(ReceiveRing ring, boolean shared, CompletionSink completions, LocalMemory memory, int number) {
        this.ring = ring;
        this.shared = shared;
        this.completions = completions;
        this.messages = new ArrivedMessages(ring, completions, memory, number);
        this.number = number;
    }

    /// The ring that holds them.
    public ReceiveRing ring() {
        return ring;
    }

    /// The sink for their completions.
    public CompletionSink completions() {
        return completions;
    }

    /// The messages that peers of this host put into lines; none if the queue is shared.
    public ArrivedMessages messages() {
        return messages;
    }

    /// Whether they are those of a shared receive queue.
    public boolean isShared() {
        return shared;
    }

    /// Appends receives; under the receive lock.
    ///
    /// @return how many there was room for
    public int post(RequestChain batch, int first, int count) {
        int posted = 0;
        while (posted < count && post(batch.segment(), batch.at(first + posted), batch.elementsAt(first + posted))) {
            posted++;
        }
        return posted;
    }

    private boolean post(MemorySegment request, long at, long element) {
        return ring.post(request, at, element, messages.fit(request, at, element));
    }

    /// Completes receives that are posted in the error state as flushed; under the receive lock.
    public void flush(RequestChain batch, int first, int count) {
        for (int i = first; i < first + count; i++) {
            flush(batch.segment().get(JAVA_LONG, batch.at(i)));
        }
    }

    /// Takes back the receive of a message that will never be complete, to flush it before the others; under the
    /// send lock.
    public void giveBack(long workId) {
        givenBack = true;
        givenBackId = workId;
    }

    /// The peer does not end the receive that it [holds][ArrivedMessages#isHeldBack()]. That is flushed next; under
    /// the send lock, while no thread polls.
    public void takeBackHeld() {
        if (messages.isHeldBack()) {
            giveBack(messages.takeBack());
        }
    }

    /// Completes all receives of the queue pair as flushed; under both locks. Those of a shared receive queue stay.
    public void flush() {
        if (givenBack) {
            givenBack = false;
            flush(givenBackId);
        }
        for (int left = shared ? 0 : ring.depth(); left > 0 && ring.take(taken); left--) {
            flush(taken[0]);
        }
    }

    private void flush(long workId) {
        fields.set(workId, FLUSHED, 0, 0, number);
        completions.push(fields);
    }

    /// Discards all receives of the queue pair silently; under both locks, while no thread polls.
    public void clear() {
        givenBack = false;
        if (!shared) {
            ring.clear();
        }
    }

    /// Frees the memory. No other thread may post or take receives now.
    public void free() {
        if (!shared) {
            ring.free();
        }
    }
}
