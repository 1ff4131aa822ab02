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
import io.rdmacomm.soft.mapped.SharedWords;
import io.rdmacomm.soft.memory.ElementList;
import io.rdmacomm.soft.memory.LocalMemory;
import io.rdmacomm.soft.memory.LocalRegion;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.spi.CompletionLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/// The messages that have arrived in the [lines][ReceiveLines] of a queue pair's own receives, and were not polled.
/// The poll moves short payloads to the memory of their receives.
///
/// Nothing is in lines until [#open()]. "While no thread polls" means in [CompletionSink#whileNotPolled].
public final class ArrivedMessages {
    private static final int SUCCESS = 0;
    private static final int GENERAL = WorkStatus.GENERAL_ERROR.code();
    private static final int PROTECTION = WorkStatus.LOCAL_PROTECTION_ERROR.code();
    private static final int LOCAL_WRITE = AccessFlag.LOCAL_WRITE.bit();

    private final ReceiveRing ring;
    private final CompletionSink completions;
    private final LocalMemory memory;
    private final int number;
    private final CompletionFields polled = new CompletionFields();
    private Runnable failed = () -> {};
    private volatile @Nullable ReceiveLines lines;
    private long marked;
    private long owed;
    /// The payloads of messages before this position are in the memory of their receives, if that was deregistered.
    private long placed;

    /// @param memory of this context
    /// @param number of the queue pair
    ArrivedMessages(ReceiveRing ring, CompletionSink completions, LocalMemory memory, int number) {
        this.ring = ring;
        this.completions = completions;
        this.memory = memory;
        this.number = number;
    }

    /// Sets what is called when a payload cannot be moved to the memory of its receive.
    public void onFailure(Runnable action) {
        failed = action;
    }

    /// Whether any short message fits into a receive that is posted next, so that its line can take the payload;
    /// under the receive lock.
    ///
    /// @param at where the receive is in `request`
    /// @param element where its first element is
    boolean fit(MemorySegment request, long at, long element) {
        if (lines == null || request.get(JAVA_INT, at + ELEMENT_COUNT) != 1) {
            return false;
        }
        int key = request.get(JAVA_INT, element + ELEMENT_KEY);
        long address = request.get(JAVA_LONG, element + ELEMENT_ADDRESS);
        long length = Integer.toUnsignedLong(request.get(JAVA_INT, element + ELEMENT_LENGTH));
        LocalRegion region = memory.usable(key, ring.domain(), LOCAL_WRITE, address, length);
        // What peers WRITE to the memory after the message must not be replaced by a later poll.
        return length >= ReceiveLines.MOST_PAYLOAD && region != null && !region.isRemote();
    }

    /// Whether the queue pair can get lines: it has received nothing yet. Otherwise messages in lines would
    /// overtake those that are left in the ring.
    public boolean canOpen() {
        return lines == null && ring.head() == 0;
    }

    /// A peer of this host may put messages into lines from now on, if that [is possible][#canOpen()] and there is
    /// memory for them; under both locks of the queue pair.
    public void open() {
        ReceiveLines added = ring.addLines();
        lines = added;
        if (added != null) {
            added.open();
        }
    }

    /// It no longer may; under the send lock, before receives are flushed, while no thread polls.
    ///
    /// @param busy whether it may be in the middle of an operation, because its process is stopped
    public void close(boolean busy) {
        ReceiveLines has = lines;
        if (has != null && has.isOpen()) {
            ring.skipTo(has.close(busy, ring.tail()));
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

    /// The peer does not end the receive that it holds; while no thread polls.
    ///
    /// @return the work id of that receive
    long takeBack() {
        ReceiveLines has = lines;
        return has == null ? 0 : ring.workId(has.takeBack());
    }

    /// The most messages that can be here.
    public int depth() {
        return ring.depth();
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
    public int poll(MemorySegment into, int from, int max, boolean onlyOwed) {
        ReceiveLines has = lines;
        long end = onlyOwed ? owed : marked;
        int count = from;
        while (has != null && count < max && has.arrived() < end && next(has)) {
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
        int status = bytes > 0 ? place(from, position, bytes) : SUCCESS;
        boolean isPlaced = status == SUCCESS || (status == PROTECTION && position < placed);
        if (!isPlaced) {
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
            if (region.mayFault()) {
                SharedWords.throwFault();
            }
            return SUCCESS;
        } catch (RuntimeException | Error e) {
            return GENERAL;
        }
    }

    /// Remembers which messages have arrived: the next polls go no further; the thread that polls.
    ///
    /// @param owes whether to remember them as owed, too
    /// @param most how many the next poll takes
    /// @return whether there are any that were not polled
    public boolean mark(boolean owes, int most) {
        ReceiveLines has = lines;
        if (has == null) {
            return false;
        }
        if (!owes && marked - has.arrived() >= most) {
            // Not all again for each of many polls.
            return true;
        }
        marked = end(has);
        if (owes) {
            owed = marked;
        }
        return marked > has.arrived();
    }

    /// The number of messages that have arrived and were not polled.
    public long waiting() {
        ReceiveLines has = lines;
        return has == null ? 0 : Math.max(0, end(has) - has.arrived());
    }

    private long end(ReceiveLines of) {
        return Math.min(of.end(), ring.tail());
    }

    /// Waits until a poll that is in progress no longer moves a payload; any thread.
    public void awaitPoll() {
        if (lines != null) {
            completions.whileNotPolled(() -> {});
        }
    }

    /// Whether messages that were not polled, or will arrive, go to a region through lines; any thread.
    public boolean mayPlaceInto(LocalRegion region) {
        ReceiveLines has = lines;
        return has != null && region.domain() == ring.domain() && ring.names(region.key(), has.arrived());
    }

    /// No payload goes to the lines of receives that are posted already, once the peer has finished its operation;
    /// under the receive lock.
    public void endPlain() {
        ReceiveLines has = lines;
        if (has != null) {
            has.plainFrom(ring.tail());
            VarHandle.fullFence();
        }
    }

    /// Moves the payloads that arrived before to a region, which is about to be deregistered; while no thread
    /// polls.
    public void placeInto(LocalRegion region) {
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
        placed = Math.max(placed, position);
    }
}
