package io.rdmacomm.verbs;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.rdmacomm.verbs.spi.CompletionLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/// Reusable space for completions in the C layout (`struct ibv_wc`, ibv_poll_cq(3)). Allocate it once and poll
/// into it repeatedly. Reading a field allocates nothing. Not thread-safe.
///
/// ```java
/// int count = queue.poll(completions);
/// for (int i = 0; i < count; i++) {
///     if (!completions.isSuccess(i)) { ... completions.status(i) ... }
///     long id = completions.workId(i);
/// }
/// ```
public final class Completions {
    private final MemorySegment segment;
    private final int capacity;
    private int size;

    private Completions(MemorySegment segment, int capacity) {
        this.segment = segment;
        this.capacity = capacity;
    }

    /// Space for `capacity` completions in the memory of `arena`.
    public static Completions create(Arena arena, int capacity) {
        Checks.range("capacity of completions", capacity, 1, 1 << 20);
        return new Completions(arena.allocate((long) capacity * CompletionLayout.BYTES, 64), capacity);
    }

    /// The maximum number of completions of one poll.
    public int capacity() {
        return capacity;
    }

    /// The number of completions of the last poll.
    public int size() {
        return size;
    }

    /// The work id of the request (`wr_id`).
    public long workId(int index) {
        return segment.get(JAVA_LONG, at(index) + CompletionLayout.WORK_ID);
    }

    /// Whether the work succeeded. If not, only [#workId], [#status], [#queuePairNumber] and [#vendorError] are
    /// valid.
    public boolean isSuccess(int index) {
        return statusCode(index) == 0;
    }

    /// How the work ended.
    public WorkStatus status(int index) {
        return WorkStatus.of(statusCode(index));
    }

    /// The code of [#status(int)], including codes that [WorkStatus] does not list.
    public int statusCode(int index) {
        return segment.get(JAVA_INT, at(index) + CompletionLayout.STATUS);
    }

    /// The kind of work that completed; valid only on success.
    public CompletionOpcode opcode(int index) {
        return CompletionOpcode.of(segment.get(JAVA_INT, at(index) + CompletionLayout.OPCODE));
    }

    /// Whether a receive completed rather than a send; valid only on success.
    public boolean isReceive(int index) {
        return CompletionOpcode.isReceive(segment.get(JAVA_INT, at(index) + CompletionLayout.OPCODE));
    }

    /// The provider's own error code.
    public int vendorError(int index) {
        return segment.get(JAVA_INT, at(index) + CompletionLayout.VENDOR_ERROR);
    }

    /// The number of bytes received or read; valid for receives, READs and atomics.
    public long byteLength(int index) {
        return Integer.toUnsignedLong(segment.get(JAVA_INT, at(index) + CompletionLayout.BYTE_LENGTH));
    }

    /// Whether the peer sent 32 bits of immediate data.
    public boolean hasImmediate(int index) {
        return (flags(index) & CompletionLayout.FLAG_IMMEDIATE) != 0;
    }

    /// The peer's immediate data, in host order; valid if [#hasImmediate(int)].
    public int immediate(int index) {
        return Integer.reverseBytes(segment.get(JAVA_INT, at(index) + CompletionLayout.IMMEDIATE));
    }

    /// Whether the peer invalidated a local key.
    public boolean hasInvalidated(int index) {
        return (flags(index) & CompletionLayout.FLAG_INVALIDATED) != 0;
    }

    /// The key that the peer invalidated; valid if [#hasInvalidated(int)].
    public int invalidatedKey(int index) {
        return segment.get(JAVA_INT, at(index) + CompletionLayout.IMMEDIATE);
    }

    /// The number of the local queue pair.
    public int queuePairNumber(int index) {
        return segment.get(JAVA_INT, at(index) + CompletionLayout.QUEUE_PAIR_NUMBER);
    }

    /// The sender's queue pair number; valid for datagrams.
    public int sourceQueuePair(int index) {
        return segment.get(JAVA_INT, at(index) + CompletionLayout.SOURCE_QUEUE_PAIR);
    }

    /// The sender's local identifier; valid for datagrams.
    public int sourceLid(int index) {
        return segment.get(JAVA_SHORT, at(index) + CompletionLayout.SOURCE_LID) & 0xffff;
    }

    /// The service level of the datagram, 0 to 15; valid for datagrams.
    public int serviceLevel(int index) {
        return segment.get(JAVA_BYTE, at(index) + CompletionLayout.SERVICE_LEVEL) & 0xf;
    }

    /// Whether the buffer begins with a [GlobalRoutingHeader]; valid for datagrams. If not, its first
    /// [GlobalRoutingHeader#BYTES] bytes are undefined.
    public boolean hasGlobalRoute(int index) {
        return (flags(index) & CompletionLayout.FLAG_GLOBAL_ROUTE) != 0;
    }

    private int flags(int index) {
        return segment.get(JAVA_INT, at(index) + CompletionLayout.FLAGS);
    }

    /// The completions in memory, in the format of [CompletionLayout].
    MemorySegment segment() {
        return segment;
    }

    void size(int count) {
        size = count;
    }

    private long at(int index) {
        return (long) Objects.checkIndex(index, size) * CompletionLayout.BYTES;
    }
}
