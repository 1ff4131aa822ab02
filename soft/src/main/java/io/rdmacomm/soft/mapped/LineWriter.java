package io.rdmacomm.soft.mapped;

import static io.rdmacomm.soft.mapped.ReceiveLines.CLAIMED;
import static io.rdmacomm.soft.mapped.ReceiveLines.LINES;
import static io.rdmacomm.soft.mapped.ReceiveLines.NEXT;
import static io.rdmacomm.soft.mapped.ReceiveLines.PLAIN;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// The end of the [ReceiveLines] of a peer's queue pair at which messages are written. One thread at a time.
public final class LineWriter {
    private final MemorySegment memory;
    private final long ring;
    private final long lines;
    private final long mask;
    private long next;
    private long claimed;
    /// Receives before this position are known to be posted. The peer writes the tail with every receive, so it is
    /// read only when all known receives have ended.
    private long posted;

    private LineWriter(MemorySegment memory, long ring, long lines, long mask) {
        this.memory = memory;
        this.ring = ring;
        this.lines = lines;
        this.mask = mask;
        this.next = SharedWords.acquire(memory, ring + NEXT);
        this.claimed = SharedWords.acquire(memory, ring + CLAIMED);
    }

    /// Writes to the lines of the ring at `ring` of the control file `memory`.
    ///
    /// @param mask the number of entries of the ring, minus one, which was checked
    /// @return null if the ring has no lines that are open, or they cannot be there
    static @Nullable LineWriter find(MemorySegment memory, long ring, long mask) {
        long lines = SharedWords.acquire(memory, ring + LINES);
        return lines != 0 && ControlLayout.isInHeap(lines, (mask + 1) * ReceiveLine.BYTES)
                ? new LineWriter(memory, ring, lines, mask)
                : null;
    }

    /// The position of the oldest receive that waits for a message, or -1 when there is none.
    public long oldest() {
        if (next >= posted) {
            posted = SharedWords.acquire(memory, ring + ReceiveRing.TAIL);
        }
        return next < posted ? next : -1;
    }

    /// Whether the receive at `position` is known to be posted.
    public boolean isKnown(long position) {
        return position < posted;
    }

    /// Whether the payload of a message can go into its line.
    ///
    /// @param position of its receive
    public boolean takesPayload(long position, long bytes) {
        return bytes <= ReceiveLine.MOST_PAYLOAD
                && (bytes == 0 || position >= SharedWords.opaque(memory, ring + PLAIN));
    }

    /// Where in the control file that payload goes.
    public long payload(long position) {
        return line(position) + ReceiveLine.PAYLOAD;
    }

    private long line(long position) {
        return lines + (position & mask) * ReceiveLine.BYTES;
    }

    /// Whether the owner has flushed its receives without waiting for this side any longer.
    public boolean areAbandoned() {
        return SharedWords.acquire(memory, ring + CLAIMED) == ReceiveLines.ABANDONED;
    }

    /// Claims the oldest receive, in order to write to its memory.
    ///
    /// @return false if its owner has stopped receiving
    public boolean claim(long position) {
        if (!SharedWords.compareAndSet(memory, ring + CLAIMED, claimed, position + 1)) {
            return false;
        }
        claimed = position + 1;
        return true;
    }

    /// Completes the message for the oldest receive.
    ///
    /// @param payloadIsHere whether its payload is in the line
    public void publish(CompletionFields message, boolean payloadIsHere) {
        ReceiveLine.write(memory, line(next), next, message, payloadIsHere);
        next++;
        SharedWords.release(memory, ring + NEXT, next);
    }
}
