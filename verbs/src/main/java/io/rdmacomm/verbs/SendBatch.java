package io.rdmacomm.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.verbs.spi.DirectRequest;
import io.rdmacomm.verbs.spi.ReceiveRequestLayout;
import io.rdmacomm.verbs.spi.RequestChain;
import io.rdmacomm.verbs.spi.SendRequestLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Reusable send work requests in the C layout (`struct ibv_send_wr`, ibv_post_send(3)), posted together with one
/// doorbell.
///
/// Fill a batch once and post it many times, changing single fields in between. Nothing is allocated after
/// creation, except by the first datagram. Not thread-safe.
///
/// ```java
/// batch.clear();
/// batch.write(1, remote).with(region, 0, 4096);
/// batch.send(2).with(region, 4096, 64).signaled();
/// int taken = queuePair.post(batch);
/// ```
public final class SendBatch {
    /// The queue pair number of a datagram to a multicast group.
    public static final int MULTICAST = 0xffffff;

    private final MemorySegment segment;
    private final RequestChain requests;
    private final int inlineBytes;
    private final long inlineStart;
    // Recorded while the batch is filled, so that posting need not check each request.
    private int inlineOpcodes;
    private long mostInline;
    private int lastFlags;
    // The address handles of datagrams, by request: a device may read the memory of a handle without checking
    // that it is open. Null until there is one.
    private @Nullable AddressHandle @Nullable [] addresses;
    // Bytes of the last request's remote memory that no element covers yet.
    private long remoteRoom;

    private SendBatch(MemorySegment segment, int capacity, int elements, int inlineBytes) {
        this.segment = segment;
        this.requests = new RequestChain(segment, capacity, SendRequestLayout.BYTES, elements);
        this.inlineBytes = inlineBytes;
        this.inlineStart = requests.elementAt(capacity, 0); // behind all elements
    }

    /// Room for `capacity` requests of at most `elements` scatter/gather elements, without room for inline data.
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

    /// The number of requests it has room for.
    public int capacity() {
        return requests.capacity();
    }

    /// The number of requests in it.
    public int size() {
        return requests.size();
    }

    /// Removes all requests.
    public SendBatch clear() {
        requests.clear();
        inlineOpcodes = 0;
        mostInline = 0;
        return this;
    }

    /// Appends a SEND of the elements that [#with] adds.
    ///
    /// @param workId the number that its completion carries
    /// @throws IllegalStateException if the batch is full, as in every method that appends
    public SendBatch send(long workId) {
        append(workId, SendOpcode.SEND, 0);
        return this;
    }

    /// Appends a SEND with 32 bits of immediate data.
    public SendBatch sendWithImmediate(long workId, int immediate) {
        append(workId, SendOpcode.SEND_WITH_IMMEDIATE, Integer.reverseBytes(immediate));
        return this;
    }

    /// Appends a SEND that invalidates a key of the peer.
    public SendBatch sendWithInvalidate(long workId, int peerKey) {
        append(workId, SendOpcode.SEND_WITH_INVALIDATE, peerKey);
        return this;
    }

    /// Appends a WRITE of the elements that [#with] adds to the beginning of `remote`.
    ///
    /// Elements whose total length exceeds `remote` cause an [IndexOutOfBoundsException].
    public SendBatch write(long workId, RemoteMemory remote) {
        return write(workId, remote.address(), remote.key()).within(remote);
    }

    /// Appends a WRITE of the elements that [#with] adds. The peer's device checks address, key and length.
    public SendBatch write(long workId, long remoteAddress, int remoteKey) {
        return remote(append(workId, SendOpcode.WRITE, 0), remoteAddress, remoteKey);
    }

    /// Appends a WRITE to the beginning of `remote` that then completes a receive of the peer with 32 bits of
    /// immediate data. The length is checked as in [#write(long, RemoteMemory)].
    public SendBatch writeWithImmediate(long workId, RemoteMemory remote, int immediate) {
        return writeWithImmediate(workId, remote.address(), remote.key(), immediate)
                .within(remote);
    }

    /// Appends a WRITE that then completes a receive of the peer with 32 bits of immediate data.
    public SendBatch writeWithImmediate(long workId, long remoteAddress, int remoteKey, int immediate) {
        int inNetworkOrder = Integer.reverseBytes(immediate);
        return remote(append(workId, SendOpcode.WRITE_WITH_IMMEDIATE, inNetworkOrder), remoteAddress, remoteKey);
    }

    /// Appends a READ from the beginning of `remote` into the elements that [#with] adds. The length is checked as
    /// in [#write(long, RemoteMemory)].
    public SendBatch read(long workId, RemoteMemory remote) {
        return read(workId, remote.address(), remote.key()).within(remote);
    }

    /// Appends a READ into the elements that [#with] adds. The peer's device checks address, key and length.
    public SendBatch read(long workId, long remoteAddress, int remoteKey) {
        return remote(append(workId, SendOpcode.READ, 0), remoteAddress, remoteKey);
    }

    /// Appends a compare-and-swap of the first 8 bytes of `remote`, which must be aligned to 8.
    ///
    /// @throws IndexOutOfBoundsException if `remote` is shorter
    public SendBatch compareAndSwap(long workId, RemoteMemory remote, long expected, long value) {
        Objects.checkFromIndexSize(0, Long.BYTES, remote.length());
        return compareAndSwap(workId, remote.address(), remote.key(), expected, value);
    }

    /// Appends a compare-and-swap of 8 remote bytes, aligned to 8. The old value goes into the 8-byte element that
    /// [#with] adds, in host order.
    public SendBatch compareAndSwap(long workId, long remoteAddress, int remoteKey, long expected, long value) {
        long at = appendAtomic(workId, SendOpcode.COMPARE_AND_SWAP, remoteAddress, remoteKey);
        segment.set(JAVA_LONG, at + SendRequestLayout.COMPARE_ADD, expected);
        segment.set(JAVA_LONG, at + SendRequestLayout.SWAP, value);
        return this;
    }

    /// Appends a fetch-and-add on the first 8 bytes of `remote`, which must be aligned to 8.
    ///
    /// @throws IndexOutOfBoundsException if `remote` is shorter
    public SendBatch fetchAndAdd(long workId, RemoteMemory remote, long addend) {
        Objects.checkFromIndexSize(0, Long.BYTES, remote.length());
        return fetchAndAdd(workId, remote.address(), remote.key(), addend);
    }

    /// Appends a fetch-and-add on 8 remote bytes, aligned to 8. The old value goes into the 8-byte element that
    /// [#with] adds, in host order.
    public SendBatch fetchAndAdd(long workId, long remoteAddress, int remoteKey, long addend) {
        long at = appendAtomic(workId, SendOpcode.FETCH_AND_ADD, remoteAddress, remoteKey);
        segment.set(JAVA_LONG, at + SendRequestLayout.COMPARE_ADD, addend);
        return this;
    }

    /// Appends the invalidation of a memory window's local key.
    public SendBatch localInvalidate(long workId, int key) {
        append(workId, SendOpcode.LOCAL_INVALIDATE, key);
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
        int rights = AccessFlag.grantedBy("memory window", access);
        long at = append(workId, SendOpcode.BIND_WINDOW, 0); // rxe rejects a binding with immediate data
        segment.set(JAVA_LONG, at + SendRequestLayout.WINDOW, window.driver().handle());
        segment.set(JAVA_INT, at + SendRequestLayout.WINDOW_KEY, key);
        segment.set(
                JAVA_LONG, at + SendRequestLayout.WINDOW_REGION, region.driver().handle());
        segment.set(JAVA_LONG, at + SendRequestLayout.WINDOW_ADDRESS, region.address() + offset);
        segment.set(JAVA_LONG, at + SendRequestLayout.WINDOW_LENGTH, length);
        segment.set(JAVA_INT, at + SendRequestLayout.WINDOW_ACCESS, rights);
        return this;
    }

    /// Adds an element to the last request: part of a region.
    ///
    /// @throws IndexOutOfBoundsException if the range is not within the region, or the request is longer than its
    ///         [RemoteMemory]
    /// @throws IllegalStateException if the request has all its elements
    public SendBatch with(MemoryRegion region, long offset, long length) {
        Objects.checkFromIndexSize(offset, length, region.length());
        return with(region.address() + offset, length, region.localKey());
    }

    /// Adds an element to the last request. The device checks address, length and key when it executes the
    /// request.
    ///
    /// @throws IndexOutOfBoundsException if the request is longer than its [RemoteMemory]
    /// @throws IllegalStateException if the request has all its elements
    public SendBatch with(long address, long length, int localKey) {
        if (length > remoteRoom) {
            throw new IndexOutOfBoundsException(
                    "an element of " + length + " bytes, and " + remoteRoom + " bytes of remote memory are left");
        }
        requests.add(address, length, localKey);
        remoteRoom -= length;
        if ((lastFlags & SendRequestLayout.FLAG_INLINE) != 0) {
            noteInline(requests.last());
        }
        return this;
    }

    /// Copies `length` bytes into the batch and makes them the payload of the last request. The source may be any
    /// memory, and can be reused immediately.
    ///
    /// @throws IllegalArgumentException if the batch was created for fewer inline bytes
    public SendBatch inline(MemorySegment source, long offset, int length) {
        Checks.range("inline bytes", length, 0, inlineBytes);
        long to = inlineStart + requests.last() * aligned(inlineBytes);
        MemorySegment.copy(source, offset, segment, to, length);
        with(segment.address() + to, length, 0);
        return inline();
    }

    /// Copies the payload of the last request when it is posted, so that its memory can be reused
    /// immediately.
    public SendBatch inline() {
        flag(SendRequestLayout.FLAG_INLINE);
        noteInline(requests.last());
        return this;
    }

    private void noteInline(int index) {
        inlineOpcodes |= 1 << opcode(index);
        mostInline = Math.max(mostInline, requests.length(index));
    }

    /// Makes the last request end with a completion. An unsignaled request completes only if it fails.
    public SendBatch signaled() {
        return flag(SendRequestLayout.FLAG_SIGNALED);
    }

    /// Makes the last request wake a peer that waits for solicited events only.
    public SendBatch solicited() {
        return flag(SendRequestLayout.FLAG_SOLICITED);
    }

    /// Makes the last request wait for all READs and atomics before it. A fenced READ needs
    /// [Capability#FENCED_READ].
    public SendBatch fenced() {
        return flag(SendRequestLayout.FLAG_FENCE);
    }

    /// Makes the last request a datagram to this peer.
    ///
    /// @param handle the path to it, of the protection domain of the queue pair; stays open until the request has
    ///        completed
    /// @param queuePairNumber its queue pair, or [#MULTICAST]
    /// @param queueKey the key of that queue pair; on InfiniBand and RoCE, one with the highest bit set means
    ///        the sending queue pair's own key
    public SendBatch to(AddressHandle handle, int queuePairNumber, int queueKey) {
        destination(requests.last(), handle, queuePairNumber, queueKey);
        return this;
    }

    /// Changes the peer of a datagram; see [#to].
    public void destination(int index, AddressHandle handle, int queuePairNumber, int queueKey) {
        Checks.range("queue pair number", queuePairNumber, 0, 0xffffff);
        long at = at(requests.checkIndex(index));
        segment.set(JAVA_LONG, at + SendRequestLayout.ADDRESS_HANDLE, handle.handle());
        segment.set(JAVA_INT, at + SendRequestLayout.DESTINATION_NUMBER, queuePairNumber);
        segment.set(JAVA_INT, at + SendRequestLayout.DESTINATION_KEY, queueKey);
        @Nullable AddressHandle[] all = addresses;
        if (all == null) {
            all = new AddressHandle[capacity()];
            addresses = all;
        }
        all[index] = handle;
    }

    /// Changes the work id of a request.
    public void workId(int index, long workId) {
        requests.workId(index, workId);
    }

    /// Changes the immediate data of a request, given in host order.
    public void immediate(int index, int immediate) {
        long at = at(requests.checkIndex(index));
        segment.set(JAVA_INT, at + SendRequestLayout.IMMEDIATE, Integer.reverseBytes(immediate));
    }

    /// Changes the remote address of a request.
    public void remoteAddress(int index, long address) {
        segment.set(JAVA_LONG, at(requests.checkIndex(index)) + SendRequestLayout.REMOTE_ADDRESS, address);
    }

    /// Changes an element of a request. The device checks it when it executes the request.
    public void element(int index, int element, long address, long length, int localKey) {
        requests.replace(index, element, address, length, localKey);
        if ((flags(index) & SendRequestLayout.FLAG_INLINE) != 0) {
            noteInline(index);
        }
    }

    /// Whether a request has this opcode.
    public boolean contains(SendOpcode opcode) {
        return requests.contains(opcode.code());
    }

    /// The requests in memory.
    RequestChain chain() {
        return requests;
    }

    private long at(int index) {
        return requests.at(index);
    }

    private int flags(int index) {
        return requests.flags(index);
    }

    private int opcode(int index) {
        return segment.get(JAVA_INT, at(index) + SendRequestLayout.OPCODE);
    }

    /// Whether `checks` accept every request, as far as that is known without checking each of them.
    boolean fits(SendChecks checks) {
        return checks.accept(requests.opcodes(), requests.mostElements(), inlineOpcodes, mostInline)
                && (!checks.areForDatagrams() || areDatagrams(checks));
    }

    private boolean areDatagrams(SendChecks checks) {
        for (int i = 0; i < size(); i++) {
            if (checks.datagramComplaint(address(i), requests.length(i)) != null) {
                return false;
            }
        }
        return true;
    }

    private @Nullable AddressHandle address(int index) {
        @Nullable AddressHandle[] all = addresses;
        return all == null ? null : all[index];
    }

    /// The objection of `checks` to a request, or null.
    @Nullable
    String complaint(SendChecks checks, int index) {
        long bytes = requests.length(index);
        String complaint = checks.complaint(opcode(index), flags(index), requests.elementCount(index), bytes);
        return complaint == null && checks.areForDatagrams()
                ? checks.datagramComplaint(address(index), bytes)
                : complaint;
    }

    /// Appends a request that is given as plain values.
    void append(DirectRequest request) {
        long at = append(request.workId, request.opcode, request.immediate);
        segment.set(JAVA_LONG, at + SendRequestLayout.REMOTE_ADDRESS, request.remoteAddress);
        if (request.opcode == SendOpcode.COMPARE_AND_SWAP.code() || request.opcode == SendOpcode.FETCH_AND_ADD.code()) {
            segment.set(JAVA_INT, at + SendRequestLayout.ATOMIC_KEY, request.remoteKey);
            segment.set(JAVA_LONG, at + SendRequestLayout.COMPARE_ADD, request.operand);
            segment.set(JAVA_LONG, at + SendRequestLayout.SWAP, request.swap);
        } else {
            segment.set(JAVA_INT, at + SendRequestLayout.REMOTE_KEY, request.remoteKey);
        }
        if (request.hasElement) {
            with(request.address, request.length, request.localKey);
        }
        flag(request.flags);
        if ((request.flags & SendRequestLayout.FLAG_INLINE) != 0) {
            noteInline(requests.last());
        }
    }

    private long append(long workId, SendOpcode opcode, int immediate) {
        return append(workId, opcode.code(), immediate);
    }

    private long append(long workId, int opcode, int immediate) {
        long at = requests.append(workId);
        segment.set(JAVA_INT, at + SendRequestLayout.OPCODE, opcode);
        segment.set(JAVA_INT, at + SendRequestLayout.FLAGS, 0);
        segment.set(JAVA_INT, at + SendRequestLayout.IMMEDIATE, immediate);
        requests.note(opcode);
        lastFlags = 0;
        remoteRoom = Long.MAX_VALUE;
        @Nullable AddressHandle[] all = addresses;
        if (all != null) {
            all[requests.last()] = null;
        }
        return at;
    }

    private long appendAtomic(long workId, SendOpcode opcode, long remoteAddress, int remoteKey) {
        long at = append(workId, opcode, 0);
        segment.set(JAVA_LONG, at + SendRequestLayout.REMOTE_ADDRESS, remoteAddress);
        segment.set(JAVA_INT, at + SendRequestLayout.ATOMIC_KEY, remoteKey);
        return at;
    }

    private SendBatch remote(long at, long remoteAddress, int remoteKey) {
        segment.set(JAVA_LONG, at + SendRequestLayout.REMOTE_ADDRESS, remoteAddress);
        segment.set(JAVA_INT, at + SendRequestLayout.REMOTE_KEY, remoteKey);
        return this;
    }

    private SendBatch within(RemoteMemory remote) {
        remoteRoom = remote.length();
        return this;
    }

    private SendBatch flag(int flag) {
        lastFlags |= flag;
        segment.set(JAVA_INT, at(requests.last()) + SendRequestLayout.FLAGS, lastFlags);
        return this;
    }

    private static long aligned(int bytes) {
        return (bytes + 15L) & ~15L;
    }
}
