package io.rdmacomm.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/// Reusable room for receive work requests, in the C layout (`struct ibv_recv_wr`, ibv_post_recv(3)), posted
/// together.
///
/// Fill it once and post it many times, changing single fields in between. Nothing is allocated after creation.
/// Not safe
/// for use by several threads.
///
/// ```java
/// batch.clear();
/// batch.receive(7).with(region, 0, 4096);
/// int taken = queuePair.post(batch);
/// ```
public final class ReceiveBatch {
    private final MemorySegment segment;
    private final RequestChain receives;
    private final int capacity;
    private final int elements;
    private int size;
    private int mostElements;
    // Of the last receive, as in a SendBatch.
    private boolean sealed = true;
    private int lastElements;

    private ReceiveBatch(MemorySegment segment, int capacity, int elements) {
        this.segment = segment;
        this.capacity = capacity;
        this.elements = elements;
        this.receives = new RequestChain(segment, capacity, ReceiveRequestLayout.BYTES, elements);
    }

    /// Room for `capacity` receives of at most `elements` scatter/gather elements in the memory of `arena`.
    public static ReceiveBatch create(Arena arena, int capacity, int elements) {
        Checks.range("capacity of a receive batch", capacity, 1, 1 << 20);
        Checks.range("elements of a receive", elements, 1, 256);
        long bytes = ReceiveRequestLayout.BYTES + (long) elements * ReceiveRequestLayout.ELEMENT_BYTES;
        return new ReceiveBatch(arena.allocate(capacity * bytes, 64), capacity, elements);
    }

    /// How many requests it has room for.
    public int capacity() {
        return capacity;
    }

    /// How many requests are in it.
    public int size() {
        return size;
    }

    /// Forgets all requests.
    public ReceiveBatch clear() {
        size = 0;
        sealed = true;
        mostElements = 0;
        return this;
    }

    /// Appends a receive without room for data; [#with] adds room.
    ///
    /// @param workId the number that its completion carries
    /// @throws IllegalStateException if the batch is full
    public ReceiveBatch receive(long workId) {
        if (size == capacity) {
            throw new IllegalStateException("the receive batch holds " + capacity + " requests; post or clear it");
        }
        seal();
        segment.set(JAVA_LONG, at(size) + ReceiveRequestLayout.WORK_ID, workId);
        size++;
        sealed = false;
        lastElements = 0;
        return this;
    }

    /// Adds room to the last receive.
    ///
    /// @throws IndexOutOfBoundsException if the range is not within the region
    /// @throws IllegalStateException if the receive has all its elements
    public ReceiveBatch with(MemoryRegion region, long offset, long length) {
        Objects.checkFromIndexSize(offset, length, region.length());
        return with(region.address() + offset, length, region.localKey());
    }

    /// Adds room to the last receive, unchecked until the message arrives.
    ///
    /// @throws IllegalStateException if the receive has all its elements
    public ReceiveBatch with(long address, long length, int localKey) {
        int index = checkIndex(size - 1);
        int count = lastElements;
        if (count == elements) {
            throw new IllegalStateException("a receive of this batch has at most " + elements + " elements");
        }
        NativeWords.putElement(segment, elementAt(index, count), address, length, localKey);
        sealed = false;
        lastElements = count + 1;
        mostElements = Math.max(mostElements, count + 1);
        return this;
    }

    /// Changes the number of a receive.
    public void workId(int index, long workId) {
        segment.set(JAVA_LONG, at(checkIndex(index)) + ReceiveRequestLayout.WORK_ID, workId);
    }

    /// Changes an element of a receive.
    public void element(int index, int element, long address, long length, int localKey) {
        Objects.checkIndex(element, elementCount(checkIndex(index)));
        NativeWords.putElement(segment, elementAt(index, element), address, length, localKey);
    }

    /// The memory that the requests and their elements are in, for providers.
    public MemorySegment segment() {
        seal();
        return segment;
    }

    /// Where in [#segment()] request `index` is, for providers.
    public long at(int index) {
        return (long) index * ReceiveRequestLayout.BYTES;
    }

    /// Where in [#segment()] the elements of request `index` are, for providers.
    public long elementsAt(int index) {
        return elementAt(index, 0);
    }

    int mostElements() {
        return mostElements;
    }

    int elementCount(int index) {
        seal();
        return segment.get(JAVA_INT, at(index) + ReceiveRequestLayout.ELEMENT_COUNT);
    }

    /// Makes `last` the last receive of the chain in memory; see [RequestChain#endAfter(int)].
    void endAfter(int last) {
        seal();
        receives.endAfter(last);
    }

    private void seal() {
        if (!sealed) {
            sealed = true;
            segment.set(JAVA_INT, at(size - 1) + ReceiveRequestLayout.ELEMENT_COUNT, lastElements);
        }
    }

    private long elementAt(int index, int element) {
        return receives.elementAt(index, element);
    }

    private int checkIndex(int index) {
        return Objects.checkIndex(index, size);
    }
}
