package io.rdmacomm.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.verbs.spi.ReceiveRequestLayout;
import io.rdmacomm.verbs.spi.RequestChain;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/// Reusable receive work requests in the C layout (`struct ibv_recv_wr`, ibv_post_recv(3)), posted together.
///
/// Fill a batch once and post it many times, changing single fields in between. Nothing is allocated after
/// creation. Not thread-safe.
///
/// ```java
/// batch.clear();
/// batch.receive(7).with(region, 0, 4096);
/// int taken = queuePair.post(batch);
/// ```
public final class ReceiveBatch {
    private final RequestChain receives;
    private final int capacity;
    private final int elements;
    private int size;
    private int mostElements;
    // The element count of the last receive, so that adding one does not read back a store that is still in
    // flight.
    private int lastElements;

    private ReceiveBatch(MemorySegment segment, int capacity, int elements) {
        this.receives = new RequestChain(segment, capacity, ReceiveRequestLayout.BYTES, elements);
        this.capacity = capacity;
        this.elements = elements;
    }

    /// Room for `capacity` receives of at most `elements` scatter/gather elements, in the memory of `arena`.
    public static ReceiveBatch create(Arena arena, int capacity, int elements) {
        Checks.range("capacity of a receive batch", capacity, 1, 1 << 20);
        Checks.range("elements of a receive", elements, 1, 256);
        long bytes = ReceiveRequestLayout.BYTES + (long) elements * ReceiveRequestLayout.ELEMENT_BYTES;
        MemorySegment segment = arena.allocate(capacity * bytes, 64);
        return new ReceiveBatch(segment, capacity, elements);
    }

    /// The number of receives it has room for.
    public int capacity() {
        return capacity;
    }

    /// The number of receives in it.
    public int size() {
        return size;
    }

    /// Removes all receives.
    public ReceiveBatch clear() {
        size = 0;
        mostElements = 0;
        return this;
    }

    /// Appends a receive without room for data; [#with] adds room.
    ///
    /// @param workId the number that its completion carries
    /// @throws IllegalStateException if the batch is full
    public ReceiveBatch receive(long workId) {
        if (size == capacity) {
            throw new IllegalStateException("the batch holds " + capacity + " requests; post or clear it");
        }
        long at = receives.at(size++);
        receives.segment().set(JAVA_LONG, at + ReceiveRequestLayout.WORK_ID, workId);
        receives.segment().set(JAVA_INT, at + ReceiveRequestLayout.ELEMENT_COUNT, 0);
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

    /// Adds room to the last receive. The device checks the element when a message arrives.
    ///
    /// @throws IllegalStateException if the receive has all its elements
    public ReceiveBatch with(long address, long length, int localKey) {
        if (size == 0) {
            throw new IndexOutOfBoundsException("there is no request in the batch");
        }
        if (lastElements == elements) {
            throw new IllegalStateException("a request of this batch has at most " + elements + " elements");
        }
        receives.put(size - 1, lastElements, address, length, localKey);
        lastElements++;
        receives.segment().set(JAVA_INT, receives.at(size - 1) + ReceiveRequestLayout.ELEMENT_COUNT, lastElements);
        mostElements = Math.max(mostElements, lastElements);
        return this;
    }

    /// Changes the work id of a receive.
    public void workId(int index, long workId) {
        long at = receives.at(Objects.checkIndex(index, size));
        receives.segment().set(JAVA_LONG, at + ReceiveRequestLayout.WORK_ID, workId);
    }

    /// Changes an element of a receive.
    public void element(int index, int element, long address, long length, int localKey) {
        Objects.checkIndex(element, receives.elementCount(Objects.checkIndex(index, size)));
        receives.put(index, element, address, length, localKey);
    }

    /// The receives in memory.
    RequestChain chain() {
        return receives;
    }

    /// The number of the first `count` receives that come before the first with more than `most` elements.
    int acceptable(int count, int most) {
        if (mostElements <= most) {
            return count;
        }
        int good = 0;
        while (good < count && receives.elementCount(good) <= most) {
            good++;
        }
        return good;
    }
}
