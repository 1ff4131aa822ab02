package io.rdmacomm.soft.memory;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.verbs.PlainRequest;
import io.rdmacomm.verbs.WorkStatus;
import io.rdmacomm.verbs.spi.ReceiveRequestLayout;
import io.rdmacomm.verbs.spi.SendRequest;
import io.rdmacomm.verbs.spi.SendRequestLayout;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// Finds and checks the memory of the scatter/gather elements of this side's send requests: the key exists, the
/// protection domain matches the queue pair's, the right is there, and the range lies inside (ibv_post_send(3)).
public final class LocalElements {
    /// The longest message that `byte_len` can express.
    public static final long MAX_MESSAGE = 0xffff_ffffL;

    private static final int SUCCESS = 0;
    private static final int PROTECTION = WorkStatus.LOCAL_PROTECTION_ERROR.code();

    private final LocalMemory memory;
    private final int domain;
    private long foundOffset;

    /// For the queue pairs of the protection domain with this number.
    public LocalElements(LocalMemory memory, int domain) {
        this.memory = memory;
        this.domain = domain;
    }

    /// Adds the elements of a request to `into`.
    ///
    /// @param right the right that the memory must have, 0 for reading
    /// @return 0, or the code of the [WorkStatus] to fail with
    public int resolve(ElementList into, SendRequest request, int right) {
        if (request.elements > 1) {
            return resolve(into, request.inMemory(), request.at(), request.flags, right);
        }
        boolean added = request.length == 0
                || add(into, request.memory(), request.flags, request.address, request.length, request.localKey, right);
        return added ? SUCCESS : PROTECTION;
    }

    /// Adds the elements of the request at `at` to `into`.
    ///
    /// @param flags the request's flags: inline data in the request's own memory needs no key
    /// @param right the right that the memory must have, 0 for reading
    /// @return 0, or the code of the [WorkStatus] to fail with
    public int resolve(ElementList into, MemorySegment request, long at, int flags, int right) {
        int count = request.get(JAVA_INT, at + SendRequestLayout.ELEMENT_COUNT);
        if (count == 0) {
            return SUCCESS;
        }
        long element = request.get(JAVA_LONG, at + SendRequestLayout.ELEMENTS) - request.address();
        for (int i = 0; i < count; i++, element += ReceiveRequestLayout.ELEMENT_BYTES) {
            long address = request.get(JAVA_LONG, element + ReceiveRequestLayout.ELEMENT_ADDRESS);
            long length = Integer.toUnsignedLong(request.get(JAVA_INT, element + ReceiveRequestLayout.ELEMENT_LENGTH));
            if (length == 0) {
                continue;
            }
            int key = request.get(JAVA_INT, element + ReceiveRequestLayout.ELEMENT_KEY);
            if (!add(into, request, flags, address, length, key, right)) {
                return PROTECTION;
            }
        }
        return into.total > MAX_MESSAGE ? WorkStatus.LOCAL_LENGTH_ERROR.code() : SUCCESS;
    }

    /// Adds an element of a request in `request`.
    private boolean add(
            ElementList into, MemorySegment request, int flags, long address, long length, int key, int right) {
        if ((flags & SendRequestLayout.FLAG_INLINE) != 0 && isWithin(request, address, length)) {
            into.add(request, address - request.address(), length);
            return true;
        }
        LocalRegion region = memory.usable(key, domain, right, address, length);
        if (region == null) {
            return false;
        }
        into.add(region, region.offsetOf(address), length);
        return true;
    }

    /// Finds the memory of the only element of a request, which is not empty. It begins at [#foundOffset()] of the
    /// segment. Not a file of the program, whose faults only [ElementList]s report in time.
    ///
    /// @param right the right that the memory must have, 0 for reading
    /// @return null if it must not be used, or is not found
    public @Nullable MemorySegment find(PlainRequest request, int right) {
        if (request.localKey == 0 && request instanceof SendRequest inMemory && isCopied(inMemory)) {
            foundOffset = request.address - inMemory.memory().address();
            return inMemory.memory();
        }
        LocalRegion region = memory.usable(request.localKey, domain, right, request.address, request.length);
        if (region == null || region.mayFault()) {
            return null;
        }
        foundOffset = region.offsetOf(request.address);
        return region.segment();
    }

    /// The offset of the memory that [#find] has found.
    public long foundOffset() {
        return foundOffset;
    }

    private static boolean isCopied(SendRequest request) {
        return (request.flags & SendRequestLayout.FLAG_INLINE) != 0
                && isWithin(request.memory(), request.address, request.length);
    }

    /// The number of bytes in all elements of the request at `at`.
    public static long bytes(MemorySegment request, long at) {
        int count = request.get(JAVA_INT, at + SendRequestLayout.ELEMENT_COUNT);
        long element = request.get(JAVA_LONG, at + SendRequestLayout.ELEMENTS) - request.address();
        long total = 0;
        for (int i = 0; i < count; i++, element += ReceiveRequestLayout.ELEMENT_BYTES) {
            total += Integer.toUnsignedLong(request.get(JAVA_INT, element + ReceiveRequestLayout.ELEMENT_LENGTH));
        }
        return total;
    }

    private static boolean isWithin(MemorySegment segment, long address, long length) {
        long offset = address - segment.address();
        return offset >= 0 && offset <= segment.byteSize() - length;
    }
}
