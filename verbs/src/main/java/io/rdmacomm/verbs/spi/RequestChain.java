package io.rdmacomm.verbs.spi;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;

/// The memory of a batch: a linked list of requests, followed by their scatter/gather elements.
///
/// ```
/// | request 0 | request 1 | ... | elements of request 0 | elements of request 1 | ... | inline data of a send batch |
/// ```
///
/// Send and receive requests have work id, `next` and scatter/gather list at the same offsets. The addresses are
/// written once; only the end of the chain moves when a batch of another length is posted.
///
/// A [io.rdmacomm.verbs.ReceiveBatch] writes its receives into it; each request of a [io.rdmacomm.verbs.SendBatch] is a
/// [SendRequest], which writes itself to its place. Drivers read it. Its format is that of [SendRequestLayout] and
/// [ReceiveRequestLayout]. Nothing here allocates. Not thread-safe.
public final class RequestChain {
    private static final long LONGEST_ELEMENT = 0xffff_ffffL;

    private final MemorySegment segment;
    private final int capacity;
    private final int requestBytes;
    private final int elements;
    private int end;
    private int opcodes;

    /// Writes the addresses into new memory.
    ///
    /// @param segment the memory of the requests and their elements
    /// @param capacity the number of requests that fit in the segment
    /// @param requestBytes the size of one request
    /// @param elements the largest number of elements of one request
    public RequestChain(MemorySegment segment, int capacity, int requestBytes, int elements) {
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

    /// The memory of the requests, their elements and inline data.
    public MemorySegment segment() {
        return segment;
    }

    /// The offset of a request in [#segment()].
    public long at(int index) {
        return (long) index * requestBytes;
    }

    /// The offset of the elements of a request in [#segment()].
    public long elementsAt(int index) {
        return elementAt(index, 0);
    }

    /// The offset of an element of a request in [#segment()].
    public long elementAt(int index, int element) {
        return (long) capacity * requestBytes
                + ((long) index * elements + element) * ReceiveRequestLayout.ELEMENT_BYTES;
    }

    /// Writes an element of a request.
    ///
    /// @throws IllegalArgumentException if the length is out of range
    public void put(int index, int element, long address, long length, int localKey) {
        checkLength(length);
        put(segment, elementAt(index, element), address, length, localKey);
    }

    /// Checks the length of an element.
    static void checkLength(long length) {
        if (length < 0 || length > LONGEST_ELEMENT) {
            throw new IllegalArgumentException(
                    "length of an element is " + length + ", must be 0 to " + LONGEST_ELEMENT);
        }
    }

    /// Writes the element at `at`.
    static void put(MemorySegment segment, long at, long address, long length, int localKey) {
        segment.set(JAVA_LONG, at + ReceiveRequestLayout.ELEMENT_ADDRESS, address);
        segment.set(JAVA_INT, at + ReceiveRequestLayout.ELEMENT_LENGTH, (int) length);
        segment.set(JAVA_INT, at + ReceiveRequestLayout.ELEMENT_KEY, localKey);
    }

    /// The length of the element at `at`.
    static long length(MemorySegment segment, long at) {
        return Integer.toUnsignedLong(segment.get(JAVA_INT, at + ReceiveRequestLayout.ELEMENT_LENGTH));
    }

    /// The number of elements of a request.
    public int elementCount(int index) {
        return segment.get(JAVA_INT, at(index) + ReceiveRequestLayout.ELEMENT_COUNT);
    }

    /// The `FLAG_` bits of a send request.
    public int flags(int index) {
        return segment.get(JAVA_INT, at(index) + SendRequestLayout.FLAGS);
    }

    /// Records the opcodes of all send requests.
    ///
    /// @param mask bits of `1 << opcode`
    public void opcodes(int mask) {
        opcodes = mask;
    }

    /// Whether a send request has this opcode.
    public boolean contains(int opcode) {
        return (opcodes & 1 << opcode) != 0;
    }

    /// The bytes in all elements of a request.
    public long length(int index) {
        long bytes = 0;
        for (int i = 0; i < elementCount(index); i++) {
            bytes += length(segment, elementAt(index, i));
        }
        return bytes;
    }

    /// Checks that the memory was not freed, which drivers do not detect.
    ///
    /// @throws IllegalStateException if it was
    public void checkAlive() {
        if (!segment.scope().isAlive()) {
            throw new IllegalStateException("the memory of the requests was freed: their arena is closed");
        }
    }

    /// Makes `last` the last request, before those up to it are posted.
    ///
    /// @throws IllegalStateException if the memory was freed
    public void endAfter(int last) {
        checkAlive();
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
