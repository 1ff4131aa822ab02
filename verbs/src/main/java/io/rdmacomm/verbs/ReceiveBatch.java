package io.rdmacomm.verbs;

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

    private ReceiveBatch(RequestChain receives) {
        this.receives = receives;
    }

    /// Room for `capacity` receives of at most `elements` scatter/gather elements, in the memory of `arena`.
    public static ReceiveBatch create(Arena arena, int capacity, int elements) {
        Checks.range("capacity of a receive batch", capacity, 1, 1 << 20);
        Checks.range("elements of a receive", elements, 1, 256);
        long bytes = ReceiveRequestLayout.BYTES + (long) elements * ReceiveRequestLayout.ELEMENT_BYTES;
        MemorySegment segment = arena.allocate(capacity * bytes, 64);
        return new ReceiveBatch(new RequestChain(segment, capacity, ReceiveRequestLayout.BYTES, elements));
    }

    /// The number of receives it has room for.
    public int capacity() {
        return receives.capacity();
    }

    /// The number of receives in it.
    public int size() {
        return receives.size();
    }

    /// Removes all receives.
    public ReceiveBatch clear() {
        receives.clear();
        return this;
    }

    /// Appends a receive without room for data; [#with] adds room.
    ///
    /// @param workId the number that its completion carries
    /// @throws IllegalStateException if the batch is full
    public ReceiveBatch receive(long workId) {
        receives.append(workId);
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
        receives.add(address, length, localKey);
        return this;
    }

    /// Changes the work id of a receive.
    public void workId(int index, long workId) {
        receives.workId(index, workId);
    }

    /// Changes an element of a receive.
    public void element(int index, int element, long address, long length, int localKey) {
        receives.replace(index, element, address, length, localKey);
    }

    /// The receives in memory.
    RequestChain chain() {
        return receives;
    }

    /// The number of the first `count` receives that come before the first with more than `elements` elements.
    int acceptable(int count, int elements) {
        if (receives.mostElements() <= elements) {
            return count;
        }
        int good = 0;
        while (good < count && receives.elementCount(good) <= elements) {
            good++;
        }
        return good;
    }
}
