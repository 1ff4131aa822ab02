package io.rdmacomm.soft.transport;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.soft.memory.ElementList;
import io.rdmacomm.soft.memory.LocalElements;
import io.rdmacomm.verbs.QueueSizes;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.spi.ReceiveRequestLayout;
import io.rdmacomm.verbs.spi.SendRequest;
import io.rdmacomm.verbs.spi.SendRequestLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// Send requests that could not be executed when posted: a ring of copies in the C layout, each with its elements
/// and inline data. Under the queue pair's send lock.
public final class RequestQueue implements AutoCloseable {
    private static final int FLUSHED = WorkStatus.FLUSHED.code();

    private final LocalElements localElements;
    private final SendCompleter completer;
    private final ElementList inlineFrom = new ElementList(ElementList.MAX_ELEMENTS);
    private final ElementList inlineTo = new ElementList(1);
    private final Arena arena = Arena.ofShared();
    private final MemorySegment segment;
    private final int mask;
    private final int stride;
    private final int inlineAt;
    private final int inlineBytes;
    private long head;
    private long tail;
    private boolean open;

    /// An empty queue with room for as many requests as `sizes` has.
    public RequestQueue(QueueSizes sizes, LocalElements localElements, SendCompleter completer) {
        this.localElements = localElements;
        this.completer = completer;
        int size = Integer.highestOneBit(Math.max(1, sizes.sends()) * 2 - 1);
        mask = size - 1;
        inlineAt = SendRequestLayout.BYTES + sizes.sendElements() * ReceiveRequestLayout.ELEMENT_BYTES;
        inlineBytes = sizes.inlineBytes();
        stride = (inlineAt + inlineBytes + 15) & ~15;
        segment = arena.allocate((long) size * stride, 64);
    }

    /// Completes the requests.
    public SendCompleter completer() {
        return completer;
    }

    /// Finds the memory of the requests.
    public LocalElements localElements() {
        return localElements;
    }

    /// Allows or holds back new requests: they may begin only in READY_TO_SEND.
    public void setOpen(boolean now) {
        open = now;
    }

    /// Whether requests may begin.
    public boolean isOpen() {
        return open;
    }

    /// Whether it has no requests.
    public boolean isEmpty() {
        return head == tail;
    }

    /// The memory of the requests.
    public MemorySegment segment() {
        return segment;
    }

    /// The offset of the oldest request.
    public long headAt() {
        return at(head);
    }

    /// The position of the oldest request. Positions count all requests that were ever added.
    public long head() {
        return head;
    }

    /// The position after the newest request.
    public long tail() {
        return tail;
    }

    /// The number of requests it has room for, a power of two.
    public int size() {
        return mask + 1;
    }

    /// The offset of the request at `position`.
    public long at(long position) {
        return (position & mask) * stride;
    }

    /// Removes the oldest request, which has ended.
    public void removeHead() {
        head++;
    }

    /// Discards all requests silently.
    public void clear() {
        head = tail;
    }

    /// Appends copies of the requests from `first` to `end`.
    ///
    /// @return the first that did not fit
    public int add(SendRequest[] requests, int first, int end) {
        for (int i = first; i < end; i++) {
            if (tail - head > mask) {
                return i;
            }
            add(requests[i].inMemory(), requests[i].at());
        }
        return end;
    }

    private void add(MemorySegment request, long at) {
        long to = at(tail);
        MemorySegment.copy(request, at, segment, to, SendRequestLayout.BYTES);
        int count = request.get(JAVA_INT, at + SendRequestLayout.ELEMENT_COUNT);
        long elements = request.get(JAVA_LONG, at + SendRequestLayout.ELEMENTS) - request.address();
        long toElements = to + SendRequestLayout.BYTES;
        MemorySegment.copy(request, elements, segment, toElements, (long) count * ReceiveRequestLayout.ELEMENT_BYTES);
        segment.set(JAVA_LONG, to + SendRequestLayout.ELEMENTS, segment.address() + toElements);
        if ((request.get(JAVA_INT, at + SendRequestLayout.FLAGS) & SendRequestLayout.FLAG_INLINE) != 0) {
            addInline(request, at, to);
        }
        tail++;
    }

    /// Makes a copy of the payload the only element of the copied request, because the program may reuse its memory
    /// after the post. Leaves out elements that name no memory of this side.
    private void addInline(MemorySegment request, long at, long to) {
        inlineFrom.clear();
        localElements.resolve(inlineFrom, request, at, SendRequestLayout.FLAG_INLINE, 0);
        int bytes = (int) Math.min(inlineFrom.total, inlineBytes);
        if (bytes > 0) {
            inlineTo.clear();
            inlineTo.add(segment, to + inlineAt, inlineBytes);
            ElementList.copy(inlineFrom, inlineTo, bytes);
        }
        long element = to + SendRequestLayout.BYTES;
        segment.set(JAVA_INT, to + SendRequestLayout.ELEMENT_COUNT, bytes == 0 ? 0 : 1);
        segment.set(JAVA_LONG, element + ReceiveRequestLayout.ELEMENT_ADDRESS, segment.address() + to + inlineAt);
        segment.set(JAVA_INT, element + ReceiveRequestLayout.ELEMENT_LENGTH, bytes);
        segment.set(JAVA_INT, element + ReceiveRequestLayout.ELEMENT_KEY, 0);
    }

    /// Completes requests as flushed that are posted in the error state.
    public void flush(SendRequest[] requests, int first, int end) {
        for (int i = first; i < end; i++) {
            completer.fail(requests[i].workId, FLUSHED, 0);
        }
    }

    /// Fails the oldest request and flushes the others.
    ///
    /// @param status what the oldest fails with
    /// @param vendorError details, or 0
    public void flush(int status, int vendorError) {
        int nextStatus = status;
        int nextVendorError = vendorError;
        for (; head != tail; head++) {
            completer.fail(segment.get(JAVA_LONG, headAt() + SendRequestLayout.WORK_ID), nextStatus, nextVendorError);
            nextStatus = FLUSHED;
            nextVendorError = 0;
        }
    }

    /// Frees the memory. No other thread may use the queue now.
    @Override
    public void close() {
        arena.close();
    }
}
