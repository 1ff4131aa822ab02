package io.rdmacomm.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.util.Objects;

/// The memory of a batch: requests that point to one another, and their scatter/gather elements behind them.
///
/// ```
/// | request 0 | request 1 | ... | elements of request 0 | elements of request 1 | ... | inline data of a send batch |
/// ```
///
/// Send and receive requests have work id, `next` and scatter/gather list at the same offsets. The addresses are
/// written once; only the end of the chain moves, when a batch of another length is posted.
final class RequestChain {
    private final MemorySegment segment;
    private final int capacity;
    private final int requestBytes;
    private final int elements;
    private int size;
    private int mostElements;
    // Elements of the last request, so that adding one does not read back a store that is still in flight.
    private int lastElements;
    private int end;

    /// @param capacity how many requests the segment has room for
    /// @param elements the largest number of elements of one request
    RequestChain(MemorySegment segment, int capacity, int requestBytes, int elements) {
        this.segment = segment;
        this.capacity = capacity;
        this.requestBytes = requestBytes;
        this.elements = elements;
        this.end = capacity - 1;
        for (int i = 0; i < capacity; i++) {
            segment.set(JAVA_LONG, at(i) + ReceiveRequestLayout.ELEMENTS, segment.address() + elementAt(i, 0));
            link(i, i < end);
        }
    }

    MemorySegment segment() {
        return segment;
    }

    int capacity() {
        return capacity;
    }

    int size() {
        return size;
    }

    void clear() {
        size = 0;
        mostElements = 0;
    }

    /// Appends a request without elements.
    ///
    /// @return where it begins
    long append(long workId) {
        if (size == capacity) {
            throw new IllegalStateException("the batch holds " + capacity + " requests; post or clear it");
        }
        long at = at(size++);
        segment.set(JAVA_LONG, at + ReceiveRequestLayout.WORK_ID, workId);
        segment.set(JAVA_INT, at + ReceiveRequestLayout.ELEMENT_COUNT, 0);
        lastElements = 0;
        return at;
    }

    /// The index of the request that was appended last.
    int last() {
        if (size == 0) {
            throw new IndexOutOfBoundsException("there is no request in the batch");
        }
        return size - 1;
    }

    int checkIndex(int index) {
        return Objects.checkIndex(index, size);
    }

    /// Where a request begins.
    long at(int index) {
        return (long) index * requestBytes;
    }

    /// Where an element of a request begins.
    long elementAt(int index, int element) {
        return (long) capacity * requestBytes
                + ((long) index * elements + element) * ReceiveRequestLayout.ELEMENT_BYTES;
    }

    /// Adds an element to the last request.
    void add(long address, long length, int localKey) {
        int index = last();
        if (lastElements == elements) {
            throw new IllegalStateException("a request of this batch has at most " + elements + " elements");
        }
        put(elementAt(index, lastElements), address, length, localKey);
        lastElements++;
        segment.set(JAVA_INT, at(index) + ReceiveRequestLayout.ELEMENT_COUNT, lastElements);
        mostElements = Math.max(mostElements, lastElements);
    }

    /// Replaces an element of a request.
    void replace(int index, int element, long address, long length, int localKey) {
        Objects.checkIndex(element, elementCount(checkIndex(index)));
        put(elementAt(index, element), address, length, localKey);
    }

    private void put(long at, long address, long length, int localKey) {
        Checks.range("length of an element", length, 0, 0xffff_ffffL);
        segment.set(JAVA_LONG, at + ReceiveRequestLayout.ELEMENT_ADDRESS, address);
        segment.set(JAVA_INT, at + ReceiveRequestLayout.ELEMENT_LENGTH, (int) length);
        segment.set(JAVA_INT, at + ReceiveRequestLayout.ELEMENT_KEY, localKey);
    }

    void workId(int index, long workId) {
        segment.set(JAVA_LONG, at(checkIndex(index)) + ReceiveRequestLayout.WORK_ID, workId);
    }

    int elementCount(int index) {
        return segment.get(JAVA_INT, at(index) + ReceiveRequestLayout.ELEMENT_COUNT);
    }

    /// No request has more elements than this.
    int mostElements() {
        return mostElements;
    }

    /// The bytes in all elements of a request.
    long length(int index) {
        long bytes = 0;
        for (int i = 0; i < elementCount(index); i++) {
            bytes += Integer.toUnsignedLong(
                    segment.get(JAVA_INT, elementAt(index, i) + ReceiveRequestLayout.ELEMENT_LENGTH));
        }
        return bytes;
    }

    /// Makes `last` the last request, as those up to it are about to be posted.
    ///
    /// @throws IllegalStateException if the memory was freed, which no driver would notice
    void endAfter(int last) {
        if (!segment.scope().isAlive()) {
            throw new IllegalStateException("the memory of the requests was freed: their arena is closed");
        }
        if (end != last) {
            link(end, end < capacity - 1);
            link(last, false);
            end = last;
        }
    }

    private void link(int index, boolean continued) {
        long next = continued ? segment.address() + at(index + 1) : 0;
        segment.set(JAVA_LONG, at(index) + ReceiveRequestLayout.NEXT, next);
    }
}
