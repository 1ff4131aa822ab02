package io.rdmacomm.verbs;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;

/// How the requests of a batch follow one another in memory, and where their elements are: written once for all of
/// them. What changes is where the chain ends, and only when a batch is posted that is not as long as the last one.
///
/// Sends and receives have the two addresses at the same places.
final class RequestChain {
    private final MemorySegment segment;
    private final int capacity;
    private final int requestBytes;
    private final int elements;
    private int end;

    /// @param segment the requests, then the elements of all of them
    /// @param elements of each request
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

    /// Where an element of a request is.
    long elementAt(int index, int element) {
        return (long) capacity * requestBytes
                + ((long) index * elements + element) * ReceiveRequestLayout.ELEMENT_BYTES;
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

    private long at(int index) {
        return (long) index * requestBytes;
    }
}
