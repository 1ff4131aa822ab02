package io.rdmacomm.soft;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.verbs.QueueSizes;
import io.rdmacomm.verbs.ReceiveRequestLayout;
import io.rdmacomm.verbs.SendRequestLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// Send requests that could not be carried out when they were posted, in the C layout. Guarded by the queue
/// pair's lock.
final class SendRing implements AutoCloseable {
    private final Arena arena = Arena.ofShared();
    private final MemorySegment segment;
    private final int mask;
    private final int stride;
    private final int inlineAt;
    private final int inlineBytes;
    private long head;
    private long tail;

    SendRing(QueueSizes sizes) {
        int size = Integer.highestOneBit(Math.max(1, sizes.sends()) * 2 - 1);
        mask = size - 1;
        inlineAt = SendRequestLayout.BYTES + sizes.sendElements() * ReceiveRequestLayout.ELEMENT_BYTES;
        inlineBytes = sizes.inlineBytes();
        stride = (inlineAt + inlineBytes + 15) & ~15;
        segment = arena.allocate((long) size * stride, 64);
    }

    boolean isEmpty() {
        return head == tail;
    }

    MemorySegment segment() {
        return segment;
    }

    /// Where the oldest request is.
    long headAt() {
        return at(head);
    }

    /// The position of the oldest request. Positions count all requests that were ever added.
    long head() {
        return head;
    }

    /// The position behind the newest request.
    long tail() {
        return tail;
    }

    /// How many requests it has room for, a power of two.
    int size() {
        return mask + 1;
    }

    /// Where the request at `position` is.
    long at(long position) {
        return (position & mask) * stride;
    }

    /// The oldest request's number.
    long headWorkId() {
        return segment.get(JAVA_LONG, headAt() + SendRequestLayout.WORK_ID);
    }

    void removeHead() {
        head++;
    }

    void clear() {
        head = tail;
    }

    /// Appends a copy of the request, of its elements and of its inline data.
    ///
    /// @return whether there was room
    boolean add(MemorySegment request, long at) {
        if (tail - head > mask) {
            return false;
        }
        long to = at(tail);
        MemorySegment.copy(request, at, segment, to, SendRequestLayout.BYTES);
        int count = request.get(JAVA_INT, at + SendRequestLayout.ELEMENT_COUNT);
        long elements = request.get(JAVA_LONG, at + SendRequestLayout.ELEMENTS) - request.address();
        MemorySegment.copy(
                request,
                elements,
                segment,
                to + SendRequestLayout.BYTES,
                (long) count * ReceiveRequestLayout.ELEMENT_BYTES);
        segment.set(JAVA_LONG, to + SendRequestLayout.ELEMENTS, segment.address() + to + SendRequestLayout.BYTES);
        tail++;
        return true;
    }

    /// Room for the inline data of the request that was added last.
    MemorySegment inlineRoom() {
        return segment.asSlice(at(tail - 1) + inlineAt, inlineBytes);
    }

    /// Makes `bytes` bytes in [#inlineRoom()] the only element of the request that was added last.
    void setInline(int bytes) {
        long at = at(tail - 1);
        long element = at + SendRequestLayout.BYTES;
        segment.set(JAVA_INT, at + SendRequestLayout.ELEMENT_COUNT, bytes == 0 ? 0 : 1);
        segment.set(JAVA_LONG, element + ReceiveRequestLayout.ELEMENT_ADDRESS, segment.address() + at + inlineAt);
        segment.set(JAVA_INT, element + ReceiveRequestLayout.ELEMENT_LENGTH, bytes);
        segment.set(JAVA_INT, element + ReceiveRequestLayout.ELEMENT_KEY, 0);
    }

    @Override
    public void close() {
        arena.close();
    }
}
