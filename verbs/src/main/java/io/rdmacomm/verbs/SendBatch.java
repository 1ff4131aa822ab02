package io.rdmacomm.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.verbs.spi.ReceiveRequestLayout;
import io.rdmacomm.verbs.spi.RequestChain;
import io.rdmacomm.verbs.spi.SendRequest;
import io.rdmacomm.verbs.spi.SendRequestLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Reusable send work requests (`struct ibv_send_wr`, ibv_post_send(3)), posted together with one doorbell.
///
/// Fill a batch once and post it many times, changing single fields in between. The requests are plain values. They
/// are written into memory, in the C layout, only for a device that reads them there, and again only if they have
/// changed. Nothing is allocated after creation, except by the first datagram. Not thread-safe.
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
    private final RequestChain chain;
    private final SendRequest[] requests;
    private final int inlineBytes;
    private final long inlineStart;
    private int size;
    // Recorded while the batch is filled, so that posting need not check each request.
    private int opcodes;
    private int mostElements;
    private int inlineOpcodes;
    private long mostInline;
    // The address handles of datagrams, by request: a device may read the memory of a handle without checking
    // that it is open. Null until there is one.
    private @Nullable AddressHandle @Nullable [] addresses;
    // Bytes of the last request's remote memory that no element covers yet.
    private long remoteRoom;

    private SendBatch(MemorySegment segment, int capacity, int elements, int inlineBytes) {
        this.segment = segment;
        this.chain = new RequestChain(segment, capacity, SendRequestLayout.BYTES, elements);
        this.requests = new SendRequest[capacity];
        for (int i = 0; i < capacity; i++) {
            requests[i] = new SendRequest(segment, chain.at(i), elements);
        }
        this.inlineBytes = inlineBytes;
        this.inlineStart = chain.elementAt(capacity, 0); // behind all elements
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
        return requests.length;
    }

    /// The number of requests in it.
    public int size() {
        return size;
    }

    /// Removes all requests.
    public SendBatch clear() {
        size = 0;
        opcodes = 0;
        mostElements = 0;
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
        SendRequest request = append(workId, SendOpcode.COMPARE_AND_SWAP, 0);
        request.operand = expected;
        request.swap = value;
        return remote(request, remoteAddress, remoteKey);
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
        SendRequest request = append(workId, SendOpcode.FETCH_AND_ADD, 0);
        request.operand = addend;
        request.swap = 0;
        return remote(request, remoteAddress, remoteKey);
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
        append(workId, SendOpcode.BIND_WINDOW, 0); // rxe rejects a binding with immediate data
        long at = chain.at(size - 1);
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
        SendRequest request = last();
        request.add(address, length, localKey);
        remoteRoom -= length;
        mostElements = Math.max(mostElements, request.elements);
        return noteIfInline(request);
    }

    /// Copies `length` bytes into the batch and makes them the payload of the last request. The source may be any
    /// memory, and can be reused immediately.
    ///
    /// @throws IllegalArgumentException if the batch was created for fewer inline bytes
    public SendBatch inline(MemorySegment source, long offset, int length) {
        Checks.range("inline bytes", length, 0, inlineBytes);
        long to = inlineStart + last(size) * aligned(inlineBytes);
        MemorySegment.copy(source, offset, segment, to, length);
        with(segment.address() + to, length, 0);
        return inline();
    }

    /// Copies the payload of the last request when it is posted, so that its memory can be reused
    /// immediately.
    public SendBatch inline() {
        flag(SendRequestLayout.FLAG_INLINE);
        return noteIfInline(last());
    }

    private SendBatch noteIfInline(SendRequest request) {
        if ((request.flags & SendRequestLayout.FLAG_INLINE) != 0) {
            inlineOpcodes |= 1 << request.opcode;
            mostInline = Math.max(mostInline, request.length);
        }
        return this;
    }

    /// Makes the last request end with a completion. An unsignaled request completes only if it fails.
    public SendBatch signaled() {
        last().mayEndAtOnce = false;
        return flag(SendRequestLayout.FLAG_SIGNALED);
    }

    /// Makes the last request of the batch end with a completion, unless the device finishes it before the post
    /// returns: then [#hasEndedAtOnce()] is true, the request and those before it have succeeded, and no
    /// completion follows. The software device does so for a peer on this host, if no earlier request of the
    /// queue pair waits; other devices never do. If another request is appended, this one always ends with a
    /// completion.
    public SendBatch signaledUnlessAtOnce() {
        var _ = signaled();
        last().mayEndAtOnce = true;
        return this;
    }

    /// Whether the last request has ended without a completion when it was posted; see
    /// [#signaledUnlessAtOnce()].
    public boolean hasEndedAtOnce() {
        return last().endedAtOnce;
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
        destination(last(size), handle, queuePairNumber, queueKey);
        return this;
    }

    /// Changes the peer of a datagram; see [#to].
    public void destination(int index, AddressHandle handle, int queuePairNumber, int queueKey) {
        Checks.range("queue pair number", queuePairNumber, 0, 0xffffff);
        SendRequest request = change(index);
        request.remoteAddress = handle.handle();
        request.remoteKey = queuePairNumber;
        request.queueKey = queueKey;
        @Nullable AddressHandle[] all = addresses;
        if (all == null) {
            all = new AddressHandle[capacity()];
            addresses = all;
        }
        all[index] = handle;
    }

    /// Changes the work id of a request.
    public void workId(int index, long workId) {
        change(index).workId = workId;
    }

    /// Changes the immediate data of a request, given in host order.
    public void immediate(int index, int immediate) {
        change(index).immediate = Integer.reverseBytes(immediate);
    }

    /// Changes the remote address of a request.
    public void remoteAddress(int index, long address) {
        change(index).remoteAddress = address;
    }

    /// Changes an element of a request. The device checks it when it executes the request.
    public void element(int index, int element, long address, long length, int localKey) {
        SendRequest request = change(index);
        request.replace(element, address, length, localKey);
        var _ = noteIfInline(request);
    }

    /// Whether a request has this opcode.
    public boolean contains(SendOpcode opcode) {
        return (opcodes & 1 << opcode.code()) != 0;
    }

    /// The requests, of which the first [#size()] count.
    ///
    /// @throws IllegalStateException if their memory was freed
    SendRequest[] requests() {
        chain.checkAlive();
        return requests;
    }

    /// Forgets whether the last request has ended at once in an earlier post.
    void beginPost() {
        if (size > 0) {
            requests[size - 1].endedAtOnce = false;
        }
    }

    /// The requests in memory.
    RequestChain chain() {
        return chain(0, size);
    }

    /// The requests in memory, of which those from `first` to `end` are up to date and end the chain.
    ///
    /// @throws IllegalStateException if the memory was freed
    RequestChain chain(int first, int end) {
        if (end > 0) {
            chain.endAfter(end - 1);
        }
        for (int i = first; i < end; i++) {
            requests[i].inMemory();
        }
        chain.opcodes(opcodes);
        return chain;
    }

    /// Whether `checks` accept every request, as far as that is known without checking each of them.
    boolean fits(SendChecks checks) {
        return checks.accept(opcodes, mostElements, inlineOpcodes, mostInline)
                && (!checks.areForDatagrams() || areDatagrams(checks));
    }

    private boolean areDatagrams(SendChecks checks) {
        for (int i = 0; i < size; i++) {
            if (checks.datagramComplaint(address(i), requests[i].length) != null) {
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
        SendRequest request = requests[index];
        String complaint = checks.complaint(request.opcode, request.flags, request.elements, request.length);
        return complaint == null && checks.areForDatagrams()
                ? checks.datagramComplaint(address(index), request.length)
                : complaint;
    }

    private SendRequest append(long workId, SendOpcode opcode, int immediate) {
        if (size == requests.length) {
            throw new IllegalStateException("the batch holds " + size + " requests; post or clear it");
        }
        @Nullable AddressHandle[] all = addresses;
        if (all != null) {
            all[size] = null;
        }
        if (size > 0) {
            requests[size - 1].mayEndAtOnce = false;
        }
        SendRequest request = requests[size++];
        request.begin(workId, opcode.code(), immediate);
        opcodes |= 1 << request.opcode;
        remoteRoom = Long.MAX_VALUE;
        return request;
    }

    private SendBatch remote(SendRequest request, long remoteAddress, int remoteKey) {
        request.remoteAddress = remoteAddress;
        request.remoteKey = remoteKey;
        return this;
    }

    private SendBatch within(RemoteMemory remote) {
        remoteRoom = remote.length();
        return this;
    }

    private SendBatch flag(int flag) {
        SendRequest request = last();
        request.flags |= flag;
        request.changed();
        return this;
    }

    private SendRequest last() {
        return requests[last(size)];
    }

    private static int last(int size) {
        if (size == 0) {
            throw new IndexOutOfBoundsException("there is no request in the batch");
        }
        return size - 1;
    }

    private SendRequest change(int index) {
        SendRequest request = requests[Objects.checkIndex(index, size)];
        request.changed();
        return request;
    }

    private static long aligned(int bytes) {
        return (bytes + 15L) & ~15L;
    }
}
