package io.rdmacomm.soft.transport;

import static io.rdmacomm.verbs.spi.ReceiveRequestLayout.ELEMENT_ADDRESS;
import static io.rdmacomm.verbs.spi.ReceiveRequestLayout.ELEMENT_COUNT;
import static io.rdmacomm.verbs.spi.ReceiveRequestLayout.ELEMENT_KEY;
import static io.rdmacomm.verbs.spi.ReceiveRequestLayout.ELEMENT_LENGTH;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.soft.mapped.CompletionFields;
import io.rdmacomm.soft.mapped.ReceiveLines;
import io.rdmacomm.soft.mapped.ReceiveRing;
import io.rdmacomm.soft.memory.ElementList;
import io.rdmacomm.soft.memory.LocalMemory;
import io.rdmacomm.soft.memory.LocalRegion;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.spi.CompletionLayout;
import io.rdmacomm.verbs.spi.RequestChain;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/// The receives of a queue pair, or of its shared receive queue, and the completion queue where they complete.
/// Those that peers of this host complete in [ReceiveLines] are polled here.
public final class ReceiveQueue {
    private static final int FLUSHED = WorkStatus.FLUSHED.code();
    private static final int SUCCESS = 0;
    private static final int GENERAL = WorkStatus.GENERAL_ERROR.code();
    private static final int PROTECTION = WorkStatus.LOCAL_PROTECTION_ERROR.code();
    private static final int LOCAL_WRITE = AccessFlag.LOCAL_WRITE.bit();
    private final ReceiveRing ring;
    private final boolean shared;
    private final CompletionSink completions;
    private final LocalMemory memory;
    private final int number;
    private volatile @Nullable ReceiveLines lines;
    private final CompletionFields polled = new CompletionFields();
    private Runnable failed = () -> {};
    private long marked;
    /// Whether a peer that was stopped may still write to the lines.
    private boolean abandoned;
    /// The payloads of earlier messages are in the memory of their receives, if that was deregistered meanwhile.
    private long settled;
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
        this.memory = memory;
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
        boolean plain = lines != null && isPlain(request, request.get(JAVA_INT, at + ELEMENT_COUNT), element);
        return ring.post(request, at, element, plain);
    }

    /// Whether any short message fits into a receive, so that it need not be looked at.
    private boolean isPlain(MemorySegment request, int elements, long element) {
        if (elements != 1) {
            return false;
        }
        long length = Integer.toUnsignedLong(request.get(JAVA_INT, element + ELEMENT_LENGTH));
        return length >= ReceiveLines.MOST_PAYLOAD && region(request, element, length) != null;
    }

    /// The region of an element, null if the element must not be written to.
    private @Nullable LocalRegion region(MemorySegment in, long element, long bytes) {
        int key = in.get(JAVA_INT, element + ELEMENT_KEY);
        long address = in.get(JAVA_LONG, element + ELEMENT_ADDRESS);
        return memory.usable(key, ring.domain(), LOCAL_WRITE, address, bytes);
    }

    // ---- Messages in lines ----

    /// A peer of this host may complete receives in lines from now on; under both locks. Not if there is no memory
    /// for them.
    public void openLines() {
        ReceiveLines has = lines;
        if (has == null) {
            has = ring.addLines();
            lines = has;
        }
        if (has != null && !abandoned) {
            has.open(Math.max(ring.head(), has.arrived()));
        }
    }

    /// It no longer may; under the send lock, before receives are flushed, while no thread polls.
    ///
    /// @param busy whether it may be in the middle of an operation, because its process is stopped
    public void closeLines(boolean busy) {
        ReceiveLines has = lines;
        if (has != null && has.isOpen()) {
            ring.skipTo(has.close(busy, ring.tail()));
            abandoned = busy;
            // Before those that are flushed, also if the queue pair is reset or closed next.
            while (next(has)) {
                completions.push(polled);
            }
        }
    }

    /// Whether a peer that was stopped holds a receive.
    public boolean isHeldBack() {
        ReceiveLines has = lines;
        return has != null && has.isHeldBack();
    }

    /// The peer does not end the receive that it held. That is flushed next; under the send lock, while no thread
    /// polls.
    public void takeBack() {
        ReceiveLines has = lines;
        if (has != null && has.isHeldBack()) {
            giveBack(ring.workId(has.takeBack()));
        }
    }

    /// Whether [#poll] would find a message; the thread that polls.
    public boolean hasMessage() {
        ReceiveLines has = lines;
        return has != null && isThere(has, has.arrived());
    }

    /// The receive was posted before its message could arrive, unless the peer is faulty.
    private boolean isThere(ReceiveLines in, long position) {
        return in.isThere(position) && position < ring.tail();
    }

    /// Appends the messages before the mark to `into`, which has `from` completions, until it has `max`; the thread
    /// that polls.
    ///
    /// @return how many it has now
    public int poll(MemorySegment into, int from, int max) {
        ReceiveLines has = lines;
        int count = from;
        while (has != null && count < max && has.arrived() < marked && next(has)) {
            polled.writeTo(into, (long) count * CompletionLayout.BYTES);
            count++;
        }
        return count;
    }

    /// Reads the next message into `polled`.
    private boolean next(ReceiveLines from) {
        long position = from.arrived();
        if (!isThere(from, position)) {
            return false;
        }
        from.read(position, polled, ring.workId(position), number);
        int bytes = from.payloadBytes(position);
        int status = bytes > 0 && position >= settled ? place(from, position, bytes) : SUCCESS;
        if (status != SUCCESS) {
            polled.fail(status);
            failed.run();
        }
        from.advance();
        return true;
    }

    /// Moves the payload of a message from its line to the memory of its receive.
    ///
    /// @return 0, or why not: that is not registered any more, or was freed
    private int place(ReceiveLines from, long position, int bytes) {
        MemorySegment control = memory.control();
        long element = ring.element(position);
        int key = control.get(JAVA_INT, element + ELEMENT_KEY);
        long address = control.get(JAVA_LONG, element + ELEMENT_ADDRESS);
        LocalRegion region = memory.usable(key, ring.domain(), LOCAL_WRITE, address, bytes);
        if (region == null) {
            return PROTECTION;
        }
        try {
            ElementList.copyPiece(control, from.payload(position), region.segment(), region.offsetOf(address), bytes);
            return SUCCESS;
        } catch (RuntimeException | Error e) {
            return GENERAL;
        }
    }

    /// Remembers which messages have arrived: the next polls go no further; the thread that polls.
    ///
    /// @return whether there are any that were not polled
    public boolean mark() {
        ReceiveLines has = lines;
        if (has == null) {
            return false;
        }
        marked = Math.min(has.end(), ring.tail());
        return marked > has.arrived();
    }

    /// The number of messages that have arrived and were not polled.
    public long waiting() {
        ReceiveLines has = lines;
        return has == null ? 0 : Math.max(0, Math.min(has.end(), ring.tail()) - has.arrived());
    }

    /// Waits until a poll that is in progress no longer moves a payload; any thread.
    public void awaitPoll() {
        if (lines != null) {
            completions.whileNotPolled(() -> {});
        }
    }

    /// Sets what is called when a payload cannot be moved to the memory of its receive.
    public void onFailure(Runnable action) {
        failed = action;
    }

    /// Whether messages that were not polled, or will arrive, go to a region through lines; any thread.
    public boolean mayPlaceInto(LocalRegion region) {
        ReceiveLines has = lines;
        return has != null && region.domain() == ring.domain() && ring.names(region.key(), has.arrived());
    }

    /// No payload goes to the lines of receives that are posted already, once the peer has finished its operation;
    /// under the receive lock.
    public void distrust() {
        ReceiveLines has = lines;
        if (has != null && has.isOpen()) {
            has.plainFrom(ring.tail());
            VarHandle.fullFence();
        }
    }

    /// Moves the payloads that arrived before to a region, which is about to be deregistered; while no thread
    /// polls.
    public void settle(LocalRegion region) {
        ReceiveLines from = lines;
        if (from == null) {
            return;
        }
        long position = from.arrived();
        for (; isThere(from, position); position++) {
            int bytes = from.payloadBytes(position);
            int key = memory.control().get(JAVA_INT, ring.element(position) + ELEMENT_KEY);
            if (bytes > 0 && key == region.key()) {
                var _ = place(from, position, bytes);
            }
        }
        settled = Math.max(settled, position);
    }

    // ---- Ending ----

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
        abandoned = false;
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
