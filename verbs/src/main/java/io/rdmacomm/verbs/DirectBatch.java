package io.rdmacomm.verbs;

import io.rdmacomm.verbs.spi.DirectRequest;
import io.rdmacomm.verbs.spi.RequestChain;
import io.rdmacomm.verbs.spi.SendRequestLayout;
import java.lang.foreign.Arena;
import java.util.Objects;

/// Reusable send requests of at most one scatter/gather element each, kept as plain values: the fast way for
/// small operations.
///
/// The software device executes such requests without writing work requests into memory and reading them
/// back. For other devices, posting fills a [SendBatch]. Apart from the time that it takes, a request does
/// the same in both kinds of batch: the same checks, order and completions.
///
/// Nothing is allocated after creation. Not thread-safe.
///
/// ```java
/// batch.clear().write(1, remote).with(region, 0, 8).signaled();
/// int taken = queuePair.post(batch);
/// ```
public final class DirectBatch {
    private final DirectRequest[] requests;
    private final SendBatch inMemory;
    private int size;
    // Recorded while the batch is filled, so that posting need not check each request.
    private int opcodes;
    private int inlineOpcodes;
    private long mostInline;
    private int mostElements;
    // Bytes of the last request's remote memory.
    private long remoteRoom;

    private DirectBatch(SendBatch inMemory) {
        this.inMemory = inMemory;
        this.requests = new DirectRequest[inMemory.capacity()];
        for (int i = 0; i < requests.length; i++) {
            requests[i] = new DirectRequest();
        }
    }

    /// Room for `capacity` requests, with memory of `arena` for the devices that read them there.
    public static DirectBatch create(Arena arena, int capacity) {
        return new DirectBatch(SendBatch.create(arena, capacity, 1));
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
    public DirectBatch clear() {
        size = 0;
        opcodes = 0;
        inlineOpcodes = 0;
        mostInline = 0;
        mostElements = 0;
        return this;
    }

    /// Appends a SEND of the element that [#with] adds.
    ///
    /// @param workId the number that its completion carries
    /// @throws IllegalStateException if the batch is full, as in every method that appends
    public DirectBatch send(long workId) {
        append(workId, SendOpcode.SEND, 0);
        return this;
    }

    /// Appends a SEND with 32 bits of immediate data.
    public DirectBatch sendWithImmediate(long workId, int immediate) {
        append(workId, SendOpcode.SEND_WITH_IMMEDIATE, Integer.reverseBytes(immediate));
        return this;
    }

    /// Appends a WRITE of the element that [#with] adds to the beginning of `remote`.
    ///
    /// An element that is longer than `remote` causes an [IndexOutOfBoundsException].
    public DirectBatch write(long workId, RemoteMemory remote) {
        return write(workId, remote.address(), remote.key()).within(remote);
    }

    /// Appends a WRITE of the element that [#with] adds. The peer's device checks address, key and length.
    public DirectBatch write(long workId, long remoteAddress, int remoteKey) {
        return remote(append(workId, SendOpcode.WRITE, 0), remoteAddress, remoteKey);
    }

    /// Appends a WRITE to the beginning of `remote` that then completes a receive of the peer with 32 bits of
    /// immediate data. The length is checked as in [#write(long, RemoteMemory)].
    public DirectBatch writeWithImmediate(long workId, RemoteMemory remote, int immediate) {
        return writeWithImmediate(workId, remote.address(), remote.key(), immediate)
                .within(remote);
    }

    /// Appends a WRITE that then completes a receive of the peer with 32 bits of immediate data.
    public DirectBatch writeWithImmediate(long workId, long remoteAddress, int remoteKey, int immediate) {
        int inNetworkOrder = Integer.reverseBytes(immediate);
        return remote(append(workId, SendOpcode.WRITE_WITH_IMMEDIATE, inNetworkOrder), remoteAddress, remoteKey);
    }

    /// Appends a READ from the beginning of `remote` into the element that [#with] adds. The length is
    /// checked as in [#write(long, RemoteMemory)].
    public DirectBatch read(long workId, RemoteMemory remote) {
        return read(workId, remote.address(), remote.key()).within(remote);
    }

    /// Appends a READ into the element that [#with] adds. The peer's device checks address, key and length.
    public DirectBatch read(long workId, long remoteAddress, int remoteKey) {
        return remote(append(workId, SendOpcode.READ, 0), remoteAddress, remoteKey);
    }

    /// Appends a compare-and-swap of 8 remote bytes, aligned to 8. The old value goes into the 8-byte
    /// element that [#with] adds, in host order.
    public DirectBatch compareAndSwap(long workId, long remoteAddress, int remoteKey, long expected, long value) {
        DirectRequest request = append(workId, SendOpcode.COMPARE_AND_SWAP, 0);
        request.operand = expected;
        request.swap = value;
        return remote(request, remoteAddress, remoteKey);
    }

    /// Appends a fetch-and-add on 8 remote bytes, aligned to 8. The old value goes into the 8-byte element that
    /// [#with] adds, in host order.
    public DirectBatch fetchAndAdd(long workId, long remoteAddress, int remoteKey, long addend) {
        DirectRequest request = append(workId, SendOpcode.FETCH_AND_ADD, 0);
        request.operand = addend;
        return remote(request, remoteAddress, remoteKey);
    }

    /// Gives the last request its element: part of a region.
    ///
    /// @throws IndexOutOfBoundsException if the range is not within the region, or is longer than
    ///         the [RemoteMemory]
    /// @throws IllegalStateException if the request has its element
    public DirectBatch with(MemoryRegion region, long offset, long length) {
        Objects.checkFromIndexSize(offset, length, region.length());
        return with(region.address() + offset, length, region.localKey());
    }

    /// Gives the last request its element. The device checks address, length and key when it executes the
    /// request.
    ///
    /// @throws IndexOutOfBoundsException if it is longer than the [RemoteMemory]
    /// @throws IllegalStateException if the request has its element
    public DirectBatch with(long address, long length, int localKey) {
        if (length > remoteRoom) {
            throw new IndexOutOfBoundsException(
                    "an element of " + length + " bytes, and " + remoteRoom + " bytes of remote memory are left");
        }
        RequestChain.checkLength(length);
        DirectRequest request = last();
        if (request.hasElement) {
            throw new IllegalStateException("a request of this batch has at most 1 element");
        }
        request.hasElement = true;
        request.address = address;
        request.length = length;
        request.localKey = localKey;
        mostElements = 1;
        if ((request.flags & SendRequestLayout.FLAG_INLINE) != 0) {
            noteInline(request);
        }
        return this;
    }

    /// Copies the payload of the last request when it is posted, so that its memory can be reused immediately.
    public DirectBatch inline() {
        noteInline(flag(SendRequestLayout.FLAG_INLINE));
        return this;
    }

    private void noteInline(DirectRequest request) {
        inlineOpcodes |= 1 << request.opcode;
        mostInline = Math.max(mostInline, request.length);
    }

    /// Makes the last request end with a completion. An unsignaled request completes only if it fails.
    public DirectBatch signaled() {
        flag(SendRequestLayout.FLAG_SIGNALED);
        return this;
    }

    /// Makes the last request wake a peer that waits for solicited events only.
    public DirectBatch solicited() {
        flag(SendRequestLayout.FLAG_SOLICITED);
        return this;
    }

    /// Makes the last request wait for all READs and atomics before it. A fenced READ needs
    /// [Capability#FENCED_READ].
    public DirectBatch fenced() {
        flag(SendRequestLayout.FLAG_FENCE);
        return this;
    }

    /// Changes the work id of a request.
    public void workId(int index, long workId) {
        requests[Objects.checkIndex(index, size)].workId = workId;
    }

    /// The requests, of which the first [#size()] count.
    DirectRequest[] requests() {
        return requests;
    }

    /// Whether `checks` accept every request.
    boolean fits(SendChecks checks) {
        return checks.accept(opcodes, mostElements, inlineOpcodes, mostInline) && !checks.areForDatagrams();
    }

    /// The same requests in memory.
    SendBatch inMemory() {
        SendBatch batch = inMemory.clear();
        for (int i = 0; i < size; i++) {
            batch.append(requests[i]);
        }
        return batch;
    }

    private DirectRequest append(long workId, SendOpcode opcode, int immediate) {
        if (size == requests.length) {
            throw new IllegalStateException("the batch holds " + size + " requests; post or clear it");
        }
        DirectRequest request = requests[size++];
        request.workId = workId;
        request.opcode = opcode.code();
        request.flags = 0;
        request.immediate = immediate;
        request.hasElement = false;
        request.length = 0;
        opcodes |= 1 << request.opcode;
        remoteRoom = Long.MAX_VALUE;
        return request;
    }

    private DirectBatch remote(DirectRequest request, long address, int key) {
        request.remoteAddress = address;
        request.remoteKey = key;
        return this;
    }

    private DirectBatch within(RemoteMemory remote) {
        remoteRoom = remote.length();
        return this;
    }

    private DirectRequest flag(int flag) {
        DirectRequest request = last();
        request.flags |= flag;
        return request;
    }

    private DirectRequest last() {
        if (size == 0) {
            throw new IndexOutOfBoundsException("there is no request in the batch");
        }
        return requests[size - 1];
    }
}
