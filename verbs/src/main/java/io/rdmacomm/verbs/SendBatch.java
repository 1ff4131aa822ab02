package io.rdmacomm.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.Set;

/// Reusable room for send work requests, in the C layout (`struct ibv_send_wr`, ibv_post_send(3)), posted
/// together with one doorbell.
///
/// Fill it once and post it many times, changing single fields in between. Nothing is allocated after creation.
/// Not safe
/// for use by several threads.
///
/// ```java
/// batch.clear();
/// batch.write(1, remote.address(), remote.key()).with(region, 0, 4096);
/// batch.send(2).with(region, 4096, 64).signaled();
/// int taken = queuePair.post(batch);
/// ```
public final class SendBatch {
    /// Stands among the opcodes for a READ that is fenced, as not every device can carry it out.
    static final int FENCED_READ = 1 << 31;
    /// Stands among the opcodes for an element of length zero, as not every device takes it in front of others.
    static final int EMPTY_ELEMENT = 1 << 30;
    /// Stands among the opcodes for a short READ across pages, which not every device answers rightly.
    static final int SHORT_READ_ACROSS_PAGES = 1 << 29;

    private final MemorySegment segment;
    private final RequestChain requests;
    private final int capacity;
    private final int elements;
    private final int inlineBytes;
    private final long inlineStart;
    // What providers look at of each request when it is posted, here as well as in memory.
    private final long[] workIds;
    private final int[] flags;
    private int size;
    private int opcodes;
    private int mostElements;
    private int inlineOpcodes;
    private long mostInline;
    // What changes in the last request while it is filled in. #seal writes it to memory, all at once: each access to
    // a segment has its checks.
    private boolean sealed = true;
    private int lastOpcode;
    private int lastFlags;
    private int lastImmediate;
    private int lastElements;
    private long lastLength;

    private SendBatch(MemorySegment segment, int capacity, int elements, int inlineBytes) {
        this.segment = segment;
        this.capacity = capacity;
        this.elements = elements;
        this.inlineBytes = inlineBytes;
        this.workIds = new long[capacity];
        this.flags = new int[capacity];
        this.requests = new RequestChain(segment, capacity, SendRequestLayout.BYTES, elements);
        this.inlineStart = requests.elementAt(capacity, 0); // behind all elements
    }

    /// Room for `capacity` requests of at most `elements` scatter/gather elements, without inline data of their
    /// own.
    public static SendBatch create(Arena arena, int capacity, int elements) {
        return create(arena, capacity, elements, 0);
    }

    /// Room for `capacity` requests of at most `elements` scatter/gather elements and `inlineBytes` bytes that
    /// [#inline(MemorySegment, long, int)] copies, in the memory of `arena`.
    public static SendBatch create(Arena arena, int capacity, int elements, int inlineBytes) {
        Checks.range("capacity of a send batch", capacity, 1, 1 << 20);
        Checks.range("elements of a send", elements, 1, 256);
        Checks.range("inline bytes of a send", inlineBytes, 0, 1 << 16);
        long each =
                SendRequestLayout.BYTES + (long) elements * ReceiveRequestLayout.ELEMENT_BYTES + aligned(inlineBytes);
        return new SendBatch(arena.allocate(capacity * each, 64), capacity, elements, inlineBytes);
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
    public SendBatch clear() {
        size = 0;
        sealed = true;
        opcodes = 0;
        mostElements = 0;
        inlineOpcodes = 0;
        mostInline = 0;
        return this;
    }

    /// Appends a SEND of the elements that [#with] adds.
    ///
    /// @param workId the number that its completion carries
    /// @throws IllegalStateException if the batch is full, as every method that appends
    public SendBatch send(long workId) {
        append(workId, SendOpcode.SEND);
        return this;
    }

    /// Appends a SEND that also carries 32 bits.
    public SendBatch sendWithImmediate(long workId, int immediate) {
        append(workId, SendOpcode.SEND_WITH_IMMEDIATE);
        lastImmediate = Integer.reverseBytes(immediate);
        return this;
    }

    /// Appends a SEND that invalidates a key of the peer.
    public SendBatch sendWithInvalidate(long workId, int peerKey) {
        append(workId, SendOpcode.SEND_WITH_INVALIDATE);
        lastImmediate = peerKey;
        return this;
    }

    /// Appends a WRITE of the elements that [#with] adds to the peer's memory.
    public SendBatch write(long workId, long remoteAddress, int remoteKey) {
        append(workId, SendOpcode.WRITE);
        return to(remoteAddress, remoteKey);
    }

    /// Appends a WRITE that then completes a receive of the peer with 32 bits.
    public SendBatch writeWithImmediate(long workId, long remoteAddress, int remoteKey, int immediate) {
        append(workId, SendOpcode.WRITE_WITH_IMMEDIATE);
        lastImmediate = Integer.reverseBytes(immediate);
        return to(remoteAddress, remoteKey);
    }

    /// Appends a READ of the peer's memory into the elements that [#with] adds.
    public SendBatch read(long workId, long remoteAddress, int remoteKey) {
        append(workId, SendOpcode.READ);
        return to(remoteAddress, remoteKey);
    }

    /// Appends a compare-and-swap of 8 remote bytes, aligned to 8. The old value goes into the 8-byte element that
    /// [#with] adds, in host order.
    public SendBatch compareAndSwap(long workId, long remoteAddress, int remoteKey, long expected, long value) {
        long at = appendAtomic(workId, SendOpcode.COMPARE_AND_SWAP, remoteAddress, remoteKey);
        segment.set(JAVA_LONG, at + SendRequestLayout.COMPARE_ADD, expected);
        segment.set(JAVA_LONG, at + SendRequestLayout.SWAP, value);
        return this;
    }

    /// Appends a fetch-and-add on 8 remote bytes, aligned to 8. The old value goes into the 8-byte element that
    /// [#with] adds, in host order.
    public SendBatch fetchAndAdd(long workId, long remoteAddress, int remoteKey, long addend) {
        long at = appendAtomic(workId, SendOpcode.FETCH_AND_ADD, remoteAddress, remoteKey);
        segment.set(JAVA_LONG, at + SendRequestLayout.COMPARE_ADD, addend);
        return this;
    }

    /// Appends the invalidation of a memory window's key of this side.
    public SendBatch localInvalidate(long workId, int key) {
        append(workId, SendOpcode.LOCAL_INVALIDATE);
        lastImmediate = key;
        return this;
    }

    /// Appends the binding of a memory window of type 2 to a part of a region (ibv_post_send(3), IBV_WR_BIND_MW).
    ///
    /// @param key the window's next key, see [MemoryWindow#nextKey(int)]
    public SendBatch bindWindow(
            long workId,
            MemoryWindow window,
            int key,
            MemoryRegion region,
            long offset,
            long length,
            Set<AccessFlag> access) {
        Objects.checkFromIndexSize(offset, length, region.length());
        long at = append(workId, SendOpcode.BIND_WINDOW);
        segment.set(JAVA_LONG, at + SendRequestLayout.WINDOW, window.handle());
        segment.set(JAVA_INT, at + SendRequestLayout.WINDOW_KEY, key);
        segment.set(JAVA_LONG, at + SendRequestLayout.WINDOW_REGION, region.handle());
        segment.set(JAVA_LONG, at + SendRequestLayout.WINDOW_ADDRESS, region.address() + offset);
        segment.set(JAVA_LONG, at + SendRequestLayout.WINDOW_LENGTH, length);
        segment.set(JAVA_INT, at + SendRequestLayout.WINDOW_ACCESS, AccessFlag.mask(access));
        return this;
    }

    /// Adds memory to the last request.
    ///
    /// @throws IndexOutOfBoundsException if the range is not within the region
    /// @throws IllegalStateException if the request has all its elements
    public SendBatch with(MemoryRegion region, long offset, long length) {
        Objects.checkFromIndexSize(offset, length, region.length());
        return with(region.address() + offset, length, region.localKey());
    }

    /// Adds memory to the last request, unchecked until the request is carried out.
    ///
    /// @throws IllegalStateException if the request has all its elements
    public SendBatch with(long address, long length, int localKey) {
        int index = last();
        int count = lastElements;
        if (count == elements) {
            throw new IllegalStateException("a request of this batch has at most " + elements + " elements");
        }
        putElement(elementAt(index, count), address, length, localKey);
        sealed = false;
        lastElements = count + 1;
        mostElements = Math.max(mostElements, count + 1);
        lastLength += length;
        if ((lastFlags & SendRequestLayout.FLAG_INLINE) != 0) {
            mostInline = Math.max(mostInline, lastLength);
        }
        return this;
    }

    /// Copies `length` bytes into the batch and makes them the payload of the last request: the source may be any
    /// memory,
    /// and may be reused at once.
    ///
    /// @throws IllegalArgumentException if that is more than the batch was created for
    public SendBatch inline(MemorySegment source, long offset, int length) {
        int index = last();
        Checks.range("inline bytes", length, 0, inlineBytes);
        long to = inlineStart + index * aligned(inlineBytes);
        MemorySegment.copy(source, offset, segment, to, length);
        with(segment.address() + to, length, 0);
        return inline();
    }

    /// Has the payload of the last request copied when it is posted, so that its memory can be reused at once.
    public SendBatch inline() {
        flag(SendRequestLayout.FLAG_INLINE);
        inlineOpcodes |= 1 << lastOpcode;
        mostInline = Math.max(mostInline, lastLength);
        return this;
    }

    /// Makes the last request end with a completion; without it only a failure does.
    public SendBatch signaled() {
        return flag(SendRequestLayout.FLAG_SIGNALED);
    }

    /// Makes the last request wake a peer that waits for solicited events only.
    public SendBatch solicited() {
        return flag(SendRequestLayout.FLAG_SOLICITED);
    }

    /// Makes the last request wait for all READs and atomics before it. For a READ that needs
    /// [Capability#FENCED_READ].
    public SendBatch fenced() {
        flag(SendRequestLayout.FLAG_FENCE);
        if (lastOpcode == SendOpcode.READ.code()) {
            opcodes |= FENCED_READ;
        }
        return this;
    }

    /// Makes the last request a datagram to this peer.
    public SendBatch to(AddressHandle handle, int queuePairNumber, int queueKey) {
        long at = at(last());
        segment.set(JAVA_LONG, at + SendRequestLayout.ADDRESS_HANDLE, handle.handle());
        segment.set(JAVA_INT, at + SendRequestLayout.DESTINATION_NUMBER, queuePairNumber);
        segment.set(JAVA_INT, at + SendRequestLayout.DESTINATION_KEY, queueKey);
        return this;
    }

    /// Changes the number of a request.
    public void workId(int index, long workId) {
        segment.set(JAVA_LONG, at(checkIndex(index)) + SendRequestLayout.WORK_ID, workId);
        workIds[index] = workId;
    }

    /// Changes the immediate data of a request, given in host order.
    public void immediate(int index, int immediate) {
        if (checkIndex(index) == size - 1) {
            lastImmediate = Integer.reverseBytes(immediate);
            sealed = false;
        } else {
            segment.set(JAVA_INT, at(index) + SendRequestLayout.IMMEDIATE, Integer.reverseBytes(immediate));
        }
    }

    /// Changes the remote address of a request.
    public void remoteAddress(int index, long address) {
        segment.set(JAVA_LONG, at(checkIndex(index)) + SendRequestLayout.REMOTE_ADDRESS, address);
    }

    /// Changes an element of a request.
    public void element(int index, int element, long address, long length, int localKey) {
        Objects.checkIndex(element, elementCount(checkIndex(index)));
        long before = elementLength(index, element);
        putElement(elementAt(index, element), address, length, localKey);
        if (index == size - 1) {
            lastLength += length - before;
        }
        if ((flags(index) & SendRequestLayout.FLAG_INLINE) != 0) {
            mostInline = Math.max(mostInline, length(index));
        }
    }

    private void putElement(long at, long address, long length, int localKey) {
        NativeWords.putElement(segment, at, address, length, localKey);
        if (length == 0) {
            opcodes |= EMPTY_ELEMENT;
        }
    }

    /// The memory that the requests, their elements and inline data are in, for providers.
    public MemorySegment segment() {
        seal();
        return segment;
    }

    /// Where in [#segment()] request `index` is, for providers.
    public long at(int index) {
        return (long) index * SendRequestLayout.BYTES;
    }

    /// Where in [#segment()] the elements of request `index` are, for providers.
    public long elementsAt(int index) {
        return elementAt(index, 0);
    }

    /// Whether it has a request of that kind.
    public boolean contains(SendOpcode opcode) {
        return (opcodes & 1 << opcode.code()) != 0;
    }

    /// The opcodes in the batch, as a mask of `1 << code`, [#FENCED_READ] and [#EMPTY_ELEMENT].
    int opcodes() {
        return opcodes;
    }

    int mostElements() {
        return mostElements;
    }

    /// At least the payload of every inline request.
    long mostInline() {
        return mostInline;
    }

    /// The opcodes of the inline requests, as a mask of `1 << code`.
    int inlineOpcodes() {
        return inlineOpcodes;
    }

    /// Whether a request has bytes behind an element that has none.
    boolean hasElementBehindEmptyOne(int index) {
        boolean empty = false;
        for (int i = 0; i < elementCount(index); i++) {
            boolean none = elementLength(index, i) == 0;
            if (empty && !none) {
                return true;
            }
            empty |= none;
        }
        return false;
    }

    /// The bytes in all elements of a request.
    long length(int index) {
        long bytes = 0;
        for (int i = 0; i < elementCount(index); i++) {
            bytes += elementLength(index, i);
        }
        return bytes;
    }

    long remoteAddress(int index) {
        return segment.get(JAVA_LONG, at(index) + SendRequestLayout.REMOTE_ADDRESS);
    }

    int elementCount(int index) {
        seal();
        return segment.get(JAVA_INT, at(index) + SendRequestLayout.ELEMENT_COUNT);
    }

    int opcodeCode(int index) {
        seal();
        return segment.get(JAVA_INT, at(index) + SendRequestLayout.OPCODE);
    }

    /// The number that the completion of request `index` carries, for providers.
    public long workId(int index) {
        return workIds[index];
    }

    /// The `FLAG_` bits of request `index`, for providers.
    public int flags(int index) {
        seal();
        return flags[index];
    }

    /// Makes `last` the last request of the chain in memory; see [RequestChain#endAfter(int)].
    void endAfter(int last) {
        seal();
        requests.endAfter(last);
    }

    private void seal() {
        if (!sealed) {
            sealed = true;
            int last = size - 1;
            long at = at(last);
            flags[last] = lastFlags;
            segment.set(JAVA_LONG, at + SendRequestLayout.ELEMENT_COUNT, NativeWords.pair(lastElements, lastOpcode));
            // With the immediate data, if only zero: rxe refuses a binding that carries any.
            segment.set(JAVA_LONG, at + SendRequestLayout.FLAGS, NativeWords.pair(lastFlags, lastImmediate));
        }
    }

    private long append(long workId, SendOpcode opcode) {
        if (size == capacity) {
            throw new IllegalStateException("the send batch holds " + capacity + " requests; post or clear it");
        }
        seal();
        int index = size++;
        long at = at(index);
        sealed = false;
        lastOpcode = opcode.code();
        lastFlags = 0;
        lastImmediate = 0;
        lastElements = 0;
        lastLength = 0;
        workIds[index] = workId;
        segment.set(JAVA_LONG, at + SendRequestLayout.WORK_ID, workId);
        opcodes |= 1 << lastOpcode;
        return at;
    }

    private long appendAtomic(long workId, SendOpcode opcode, long remoteAddress, int remoteKey) {
        long at = append(workId, opcode);
        segment.set(JAVA_LONG, at + SendRequestLayout.REMOTE_ADDRESS, remoteAddress);
        segment.set(JAVA_INT, at + SendRequestLayout.ATOMIC_KEY, remoteKey);
        return at;
    }

    private SendBatch to(long remoteAddress, int remoteKey) {
        long at = at(size - 1);
        segment.set(JAVA_LONG, at + SendRequestLayout.REMOTE_ADDRESS, remoteAddress);
        segment.set(JAVA_INT, at + SendRequestLayout.REMOTE_KEY, remoteKey);
        return this;
    }

    private SendBatch flag(int flag) {
        last();
        lastFlags |= flag;
        sealed = false;
        return this;
    }

    private long elementAt(int index, int element) {
        return requests.elementAt(index, element);
    }

    private long elementLength(int index, int element) {
        return Integer.toUnsignedLong(
                segment.get(JAVA_INT, elementAt(index, element) + ReceiveRequestLayout.ELEMENT_LENGTH));
    }

    private int checkIndex(int index) {
        return Objects.checkIndex(index, size);
    }

    private int last() {
        if (size == 0) {
            throw new IndexOutOfBoundsException("there is no request in the batch");
        }
        return size - 1;
    }

    private static long aligned(int bytes) {
        return (bytes + 15L) & ~15L;
    }
}
