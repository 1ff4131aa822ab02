package io.rdmacomm.ibverbs.siw;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.verbs.SendOpcode;
import io.rdmacomm.verbs.spi.ReceiveRequestLayout;
import io.rdmacomm.verbs.spi.RequestChain;
import io.rdmacomm.verbs.spi.SendRequestLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// Replaces scatter/gather lists that siw mishandles by equivalent ones, while they are posted.
///
/// - A READ without elements gets one of length zero. The driver always takes the first element of a READ
///   (`siw_activate_tx_from_sq`), and libsiw leaves that of an older request in its place (`push_send_wqe`).
/// - A short message in one element that crosses a page gets two elements, one for each page (decision 16). The driver
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

    /// Whether siw sends wrong bytes for a message that begins at `address`: a short one across pages.
    static boolean isMishandled(long address, long bytes) {
        return bytes <= SHORT && (address & PAGE - 1) + bytes > PAGE;
    }

    /// Whether a request is a READ.
    static boolean isRead(RequestChain requests, int index) {
        int opcode = requests.segment().get(JAVA_INT, requests.at(index) + SendRequestLayout.OPCODE);
        return opcode == SendOpcode.READ.code();
    }

    /// Replaces lists. Call it before the requests are posted.
    ///
    /// @return whether a list was replaced, and [#restore] must be called
    boolean replace(RequestChain requests, int first, int count) {
        boolean any = false;
        for (int i = 0; i < count; i++) {
            int index = first + i;
            if ((requests.flags(index) & SendRequestLayout.FLAG_INLINE) != 0) {
                continue; // libsiw copies the data
            }
            int elements = requests.elementCount(index);
            if (elements == 0 && isRead(requests, index)) {
                put(i * BYTES, 0, 0, 0);
                point(requests, index, i * BYTES, 1);
                any = true;
            } else if (elements == 1 && !isRead(requests, index)) {
                any |= split(requests, index, i * BYTES);
            }
        }
        return any;
    }

    private boolean split(RequestChain requests, int index, long slot) {
        MemorySegment segment = requests.segment();
        long element = requests.elementsAt(index);
        int length = segment.get(JAVA_INT, element + ReceiveRequestLayout.ELEMENT_LENGTH);
        long address = segment.get(JAVA_LONG, element + ReceiveRequestLayout.ELEMENT_ADDRESS);
        if (!isMishandled(address, Integer.toUnsignedLong(length))) {
            return false;
        }
        int before = (int) (PAGE - (address & PAGE - 1));
        int key = segment.get(JAVA_INT, element + ReceiveRequestLayout.ELEMENT_KEY);
        put(slot, address, before, key);
        put(slot + SECOND, address + before, length - before, key);
        point(requests, index, slot, 2);
        return true;
    }

    private void put(long at, long address, int length, int key) {
        own.set(JAVA_LONG, at + ReceiveRequestLayout.ELEMENT_ADDRESS, address);
        own.set(JAVA_INT, at + ReceiveRequestLayout.ELEMENT_LENGTH, length);
        own.set(JAVA_INT, at + ReceiveRequestLayout.ELEMENT_KEY, key);
    }

    private void point(RequestChain requests, int index, long slot, int elements) {
        requests.segment().set(JAVA_LONG, requests.at(index) + SendRequestLayout.ELEMENTS, own.address() + slot);
        requests.segment().set(JAVA_INT, requests.at(index) + SendRequestLayout.ELEMENT_COUNT, elements);
    }

    /// Restores the requests as they were before [#replace].
    void restore(RequestChain requests, int first, int count) {
        MemorySegment segment = requests.segment();
        for (int i = 0; i < count; i++) {
            int index = first + i;
            long at = requests.at(index);
            if (segment.get(JAVA_LONG, at + SendRequestLayout.ELEMENTS) == own.address() + i * BYTES) {
                segment.set(JAVA_LONG, at + SendRequestLayout.ELEMENTS, segment.address() + requests.elementsAt(index));
                segment.set(JAVA_INT, at + SendRequestLayout.ELEMENT_COUNT, isRead(requests, index) ? 0 : 1);
            }
        }
    }

    @Override
    public void close() {
        arena.close();
    }
}
