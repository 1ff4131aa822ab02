package io.rdmacomm.soft.mapped;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/// The lines of a queue pair's own [ReceiveRing], one cache line for each receive: the message that ends a receive
/// arrives in its line. Only the peer that the queue pair is connected to writes them, with a [LineWriter], so a
/// message needs no claim, and a line says whether its message is complete. This is the owner's end.
///
/// ```
/// ring  +32 lines or 0 | +40 first plain position       written by the owner
///       +136 claimed + 1 | +144 next position           written by the peer
/// ```
///
/// A short message has its payload in the line, if its receive is plain: of one valid element that is long enough.
/// The poll moves the payload to the memory of the receive. For all others, the peer reads the receive and writes
/// to its memory. It first claims that receive, because a receive that a stopped process may still write to must
/// not end.
///
/// One thread at a time polls. To close or clear them, a thread keeps the others from polling: else a late message
/// would end its receive, which is about to be flushed.
public final class ReceiveLines {
    static final int LINES = 32;
    static final int PLAIN = 40;
    static final int CLAIMED = 136;
    static final int NEXT = 144;

    /// The longest payload in a line, in bytes.
    public static final int MOST_PAYLOAD = ReceiveLine.MOST_PAYLOAD;

    /// No receive can be claimed any more.
    private static final long CLOSED = -1;
    /// The same, and the owner did not wait until the peer had finished its operation.
    static final long ABANDONED = -2;

    private static final VarHandle ARRIVED;

    static {
        try {
            ARRIVED = MethodHandles.lookup().findVarHandle(ReceiveLines.class, "arrived", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final ControlFile file;
    private final MemorySegment memory;
    private final long ring;
    private final long lines;
    private final long mask;
    /// Polling ends before this position.
    private volatile long limit;

    @SuppressWarnings("UnusedVariable") // read and written through ARRIVED
    private long arrived;

    /// The lines of the ring at `ring`, from which no receive was taken. They are closed.
    ///
    /// @param mask the number of entries of the ring, minus one
    /// @throws IOException if there is no room
    ReceiveLines(ControlFile file, long ring, long mask) throws IOException {
        this.file = file;
        this.memory = file.memory();
        this.ring = ring;
        this.mask = mask;
        this.lines = file.allocate((mask + 1) * ReceiveLine.BYTES);
    }

    private long at(long position) {
        return lines + (position & mask) * ReceiveLine.BYTES;
    }

    private boolean isPublished(long position) {
        return ReceiveLine.holds(memory, at(position), position);
    }

    /// Lets the peer use the lines, from the oldest receive on.
    public void open() {
        SharedWords.release(memory, ring + NEXT, arrived());
        limit = Long.MAX_VALUE;
        SharedWords.publish(memory, ring + LINES, lines);
    }

    /// Whether the peer may use them.
    public boolean isOpen() {
        return limit == Long.MAX_VALUE;
    }

    /// Ends the arrival of messages, after the queue pair has left the states in which it receives.
    ///
    /// @param busy whether the peer may still execute an operation, because its process is stopped
    /// @param posted the position of the next receive that is posted; a faulty peer may write any line
    /// @return the position of the first receive that can be flushed. The one before may still end with its
    ///         message, if [#isHeldBack()]
    public long close(boolean busy, long posted) {
        SharedWords.publish(memory, ring + LINES, 0);
        long claimed = SharedWords.getAndSet(memory, ring + CLAIMED, busy ? ABANDONED : CLOSED);
        long missing = firstMissing(posted);
        limit = busy && claimed == missing + 1 ? missing + 1 : missing;
        return limit;
    }

    /// Whether the peer holds the last receive before the limit, which has not ended.
    public boolean isHeldBack() {
        return !isOpen() && firstMissing(limit) < limit;
    }

    /// The peer will not end the receive that it holds.
    ///
    /// @return the position of that receive
    public long takeBack() {
        long missing = firstMissing(limit);
        limit = missing;
        return missing;
    }

    /// All receives were dropped; the next that is posted is at this position.
    public void clear(long position) {
        limit = position;
        ARRIVED.setRelease(this, position);
    }

    /// The position of the first receive whose message was not complete when this looked.
    public long end() {
        return firstMissing(limit);
    }

    private long firstMissing(long end) {
        long position = arrived();
        while (position < end && isPublished(position)) {
            position++;
        }
        return position;
    }

    /// The position of the first receive whose message was not polled; any thread.
    public long arrived() {
        return (long) ARRIVED.getAcquire(this);
    }

    /// Receives before this position are not plain.
    public void plainFrom(long position) {
        SharedWords.release(memory, ring + PLAIN, position);
    }

    /// Whether the message for the receive at `position` is complete; any thread.
    public boolean isThere(long position) {
        return position < limit && isPublished(position);
    }

    /// Reads a message that is there, without its payload.
    ///
    /// @param fields set to its completion
    /// @param workId of its receive
    /// @param number of the queue pair
    public void read(long position, CompletionFields fields, long workId, int number) {
        ReceiveLine.read(memory, at(position), fields, workId, number);
    }

    /// The bytes of the payload of a message that is there, if they are in its line; otherwise 0.
    public int payloadBytes(long position) {
        return ReceiveLine.payloadBytes(memory, at(position));
    }

    /// Where that payload is in the control file.
    public long payload(long position) {
        return at(position) + ReceiveLine.PAYLOAD;
    }

    /// The next message was polled.
    public void advance() {
        ARRIVED.setRelease(this, arrived + 1);
    }

    /// Frees the memory.
    void free() {
        file.free(lines, (mask + 1) * ReceiveLine.BYTES);
    }
}
