package io.rdmacomm.ibverbs.siw;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.verbs.ReceiveRequestLayout;
import io.rdmacomm.verbs.SendBatch;
import io.rdmacomm.verbs.SendOpcode;
import io.rdmacomm.verbs.SendRequestLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// Replaces scatter/gather lists that siw cannot take by lists that it can, while a batch is posted.
///
/// - A READ without elements gets one of length zero. The driver always takes the first element of a READ
///   (`siw_activate_tx_from_sq`), and libsiw leaves that of an older request in its place (`push_send_wqe`).
/// - A short message in one element that crosses a page gets two elements, one for each page (decision 23). The driver
///   copies up to 32 bytes (`MAX_HDR_INLINE`) behind the header, gets the end of the page wrong (`siw_try_1seg`), and
///   sends the bytes that follow the first page in memory.
///
/// One for each queue pair, used under its send lock.
final class SiwElements implements AutoCloseable {
    private static final int SHORT = 32;
    private static final long PAGE = 4096;
    private static final long SECOND = ReceiveRequestLayout.ELEMENT_BYTES;
    private static final long BYTES = 2 * SECOND;

    private final Arena arena = Arena.ofShared();
    private final MemorySegment own;

    /// @param depth the most requests that are posted at a time
    SiwElements(int depth) {
        own = arena.allocate(Math.max(1, depth) * BYTES, Long.BYTES);
    }

    /// Whether siw gets the bytes of a message wrong that begins at `address`: a short one across pages.
    static boolean isMishandled(long address, long bytes) {
        return bytes <= SHORT && (address & PAGE - 1) + bytes > PAGE;
    }

    /// The number of elements of a request.
    static int count(SendBatch batch, int index) {
        return batch.segment().get(JAVA_INT, batch.at(index) + SendRequestLayout.ELEMENT_COUNT);
    }

    /// Whether a request is a READ.
    static boolean isRead(SendBatch batch, int index) {
        return batch.segment().get(JAVA_INT, batch.at(index) + SendRequestLayout.OPCODE) == SendOpcode.READ.code();
    }

    /// To be called before requests are posted.
    ///
    /// @return whether a list was replaced, and [#restore] must be called
    boolean replace(SendBatch batch, int first, int count) {
        boolean any = false;
        for (int i = 0; i < count; i++) {
            int index = first + i;
            if ((batch.flags(index) & SendRequestLayout.FLAG_INLINE) != 0) {
                continue; // libsiw copies the data
            }
            int elements = count(batch, index);
            if (elements == 0 && isRead(batch, index)) {
                put(i * BYTES, 0, 0, 0);
                point(batch, index, i * BYTES, 1);
                any = true;
            } else if (elements == 1 && !isRead(batch, index)) {
                any |= split(batch, index, i * BYTES);
            }
        }
        return any;
    }

    private boolean split(SendBatch batch, int index, long slot) {
        MemorySegment requests = batch.segment();
        long element = batch.elementsAt(index);
        int length = requests.get(JAVA_INT, element + ReceiveRequestLayout.ELEMENT_LENGTH);
        long address = requests.get(JAVA_LONG, element + ReceiveRequestLayout.ELEMENT_ADDRESS);
        if (!isMishandled(address, Integer.toUnsignedLong(length))) {
            return false;
        }
        int before = (int) (PAGE - (address & PAGE - 1));
        int key = requests.get(JAVA_INT, element + ReceiveRequestLayout.ELEMENT_KEY);
        put(slot, address, before, key);
        put(slot + SECOND, address + before, length - before, key);
        point(batch, index, slot, 2);
        return true;
    }

    private void put(long at, long address, int length, int key) {
        own.set(JAVA_LONG, at + ReceiveRequestLayout.ELEMENT_ADDRESS, address);
        own.set(JAVA_INT, at + ReceiveRequestLayout.ELEMENT_LENGTH, length);
        own.set(JAVA_INT, at + ReceiveRequestLayout.ELEMENT_KEY, key);
    }

    private void point(SendBatch batch, int index, long slot, int elements) {
        batch.segment().set(JAVA_LONG, batch.at(index) + SendRequestLayout.ELEMENTS, own.address() + slot);
        batch.segment().set(JAVA_INT, batch.at(index) + SendRequestLayout.ELEMENT_COUNT, elements);
    }

    /// Restores the batch as it was before [#replace].
    void restore(SendBatch batch, int first, int count) {
        MemorySegment requests = batch.segment();
        for (int i = 0; i < count; i++) {
            int index = first + i;
            long at = batch.at(index);
            if (requests.get(JAVA_LONG, at + SendRequestLayout.ELEMENTS) == own.address() + i * BYTES) {
                requests.set(JAVA_LONG, at + SendRequestLayout.ELEMENTS, requests.address() + batch.elementsAt(index));
                requests.set(JAVA_INT, at + SendRequestLayout.ELEMENT_COUNT, isRead(batch, index) ? 0 : 1);
            }
        }
    }

    @Override
    public void close() {
        arena.close();
    }
}
