package io.rdmacomm.ibverbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.verbs.ReceiveRequestLayout;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.SendOpcode;
import io.rdmacomm.verbs.SendRequestLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// Scatter/gather lists as siw can take them, in place of those of a batch while it is posted.
///
/// A READ without elements gets one of length zero: the driver takes the first element of a READ whatever their
/// number is (`siw_activate_tx_from_sq`), and libsiw leaves there what an older request had (`push_send_wqe`).
///
/// A short message in one element that crosses a page gets two elements: the driver copies up to 32 bytes
/// (`MAX_HDR_INLINE`) to behind the header, counts wrongly where the page ends (`siw_try_1seg`), and sends what lies
/// behind the page. One for each queue pair, used under its send lock.
final class SiwElements implements AutoCloseable {
    private static final int SHORT = 32;
    private static final long PAGE = 4096;
    private static final long SECOND = ReceiveRequestLayout.ELEMENT_BYTES;
    private static final long BYTES = 2 * SECOND;

    private final Arena arena = Arena.ofShared();
    private final MemorySegment own;

    /// @param depth how many requests are posted at a time at the most
    SiwElements(int depth) {
        own = arena.allocate(Math.max(1, depth) * BYTES, Long.BYTES);
    }

    /// To be called before requests are posted.
    ///
    /// @return whether there was something to replace, so that [#restore] is to be called
    boolean replace(SendBatch batch, int first, int count) {
        MemorySegment requests = batch.segment();
        boolean any = false;
        for (int i = 0; i < count; i++) {
            if ((batch.flags(first + i) & SendRequestLayout.FLAG_INLINE) != 0) {
                continue; // the driver's library copies it
            }
            long at = batch.at(first + i);
            int elements = requests.get(JAVA_INT, at + SendRequestLayout.ELEMENT_COUNT);
            if (elements == 0 && isRead(requests, at)) {
                point(requests, at, i * BYTES, 1);
                put(i * BYTES, 0, 0, 0);
                any = true;
            } else if (elements == 1) {
                any |= split(requests, at, batch.elementsAt(first + i), i * BYTES);
            }
        }
        return any;
    }

    private boolean split(MemorySegment requests, long at, long element, long slot) {
        int length = requests.get(JAVA_INT, element + ReceiveRequestLayout.ELEMENT_LENGTH);
        if (length < 0 || length > SHORT) {
            return false;
        }
        long address = requests.get(JAVA_LONG, element + ReceiveRequestLayout.ELEMENT_ADDRESS);
        long before = PAGE - (address & PAGE - 1);
        if (length <= before || isRead(requests, at)) {
            return false;
        }
        int key = requests.get(JAVA_INT, element + ReceiveRequestLayout.ELEMENT_KEY);
        put(slot, address, (int) before, key);
        put(slot + SECOND, address + before, length - (int) before, key);
        point(requests, at, slot, 2);
        return true;
    }

    private void put(long at, long address, int length, int key) {
        own.set(JAVA_LONG, at + ReceiveRequestLayout.ELEMENT_ADDRESS, address);
        own.set(JAVA_INT, at + ReceiveRequestLayout.ELEMENT_LENGTH, length);
        own.set(JAVA_INT, at + ReceiveRequestLayout.ELEMENT_KEY, key);
    }

    private void point(MemorySegment requests, long at, long slot, int elements) {
        requests.set(JAVA_LONG, at + SendRequestLayout.ELEMENTS, own.address() + slot);
        requests.set(JAVA_INT, at + SendRequestLayout.ELEMENT_COUNT, elements);
    }

    /// Leaves the batch as it was before [#replace].
    void restore(SendBatch batch, int first, int count) {
        MemorySegment requests = batch.segment();
        for (int i = 0; i < count; i++) {
            long at = batch.at(first + i);
            if (requests.get(JAVA_LONG, at + SendRequestLayout.ELEMENTS) == own.address() + i * BYTES) {
                long elements = requests.address() + batch.elementsAt(first + i);
                requests.set(JAVA_LONG, at + SendRequestLayout.ELEMENTS, elements);
                requests.set(JAVA_INT, at + SendRequestLayout.ELEMENT_COUNT, isRead(requests, at) ? 0 : 1);
            }
        }
    }

    private static boolean isRead(MemorySegment requests, long at) {
        return requests.get(JAVA_INT, at + SendRequestLayout.OPCODE) == SendOpcode.READ.code();
    }

    @Override
    public void close() {
        arena.close();
    }
}
