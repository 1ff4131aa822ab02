package io.rdmacomm.verbs.spi;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.verbs.PlainRequest;
import io.rdmacomm.verbs.SendOpcode;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/// A send request of any number of elements as plain values in the heap, and its place in memory, where it is a
/// [SendRequestLayout] after [#inMemory()].
///
/// Only in memory are the elements of a request that has several, the payload that a batch has copied (its local
/// key is 0), and what binds a memory window. Batches fill it ([io.rdmacomm.verbs.SendBatch]); drivers only read
/// it. Nothing here allocates. Not thread-safe.
public final class SendRequest extends PlainRequest {
    /// The work id.
    public long workId;
    /// The destination queue key of a datagram.
    public int queueKey;
    /// Whether the request needs no completion if the driver finishes it before it returns from `postSends`.
    /// Not in memory: a request that is posted there completes.
    public boolean mayEndAtOnce;
    /// Whether the driver has made use of that, in the last post.
    public boolean endedAtOnce;

    private final int mostElements;
    private MemorySegment memory;
    private long at;
    private boolean written;

    /// An empty request.
    ///
    /// @param memory has room for it, and the address of its elements
    /// @param at where that room begins
    /// @param mostElements how many elements it may have
    public SendRequest(MemorySegment memory, long at, int mostElements) {
        this.memory = memory;
        this.at = at;
        this.mostElements = mostElements;
    }

    /// Makes it another request, without elements and flags.
    public void begin(long newWorkId, int newOpcode, int newImmediate) {
        workId = newWorkId;
        opcode = newOpcode;
        immediate = newImmediate;
        flags = 0;
        elements = 0;
        length = 0;
        queueKey = 0;
        mayEndAtOnce = false;
        endedAtOnce = false;
        written = false;
    }

    /// A value was changed: the request in memory is out of date.
    public void changed() {
        written = false;
    }

    /// Adds an element.
    ///
    /// @throws IllegalStateException if it has all its elements
    public void add(long itsAddress, long itsLength, int itsKey) {
        if (elements == mostElements) {
            throw new IllegalStateException("a request of this batch has at most " + mostElements + " elements");
        }
        RequestChain.checkLength(itsLength);
        if (elements == 0) {
            address = itsAddress;
            localKey = itsKey;
        } else {
            if (elements == 1) {
                RequestChain.put(memory, elementAt(0), address, length, localKey);
            }
            RequestChain.put(memory, elementAt(elements), itsAddress, itsLength, itsKey);
        }
        elements++;
        length += itsLength;
        written = false;
    }

    /// Replaces an element.
    ///
    /// @throws IndexOutOfBoundsException if there is no such element
    public void replace(int element, long newAddress, long newLength, int newKey) {
        Objects.checkIndex(element, elements);
        RequestChain.checkLength(newLength);
        if (elements == 1) {
            address = newAddress;
            length = newLength;
            localKey = newKey;
        } else {
            long place = elementAt(element);
            length += newLength - RequestChain.length(memory, place);
            RequestChain.put(memory, place, newAddress, newLength, newKey);
        }
        written = false;
    }

    /// Makes it the request in the C layout at `newAt` of `newMemory`.
    public void read(MemorySegment newMemory, long newAt) {
        memory = newMemory;
        at = newAt;
        written = true;
        workId = memory.get(JAVA_LONG, at + SendRequestLayout.WORK_ID);
        opcode = memory.get(JAVA_INT, at + SendRequestLayout.OPCODE);
        flags = memory.get(JAVA_INT, at + SendRequestLayout.FLAGS);
        immediate = memory.get(JAVA_INT, at + SendRequestLayout.IMMEDIATE);
        remoteAddress = memory.get(JAVA_LONG, at + SendRequestLayout.REMOTE_ADDRESS);
        if (isAtomic()) {
            remoteKey = memory.get(JAVA_INT, at + SendRequestLayout.ATOMIC_KEY);
            operand = memory.get(JAVA_LONG, at + SendRequestLayout.COMPARE_ADD);
            swap = memory.get(JAVA_LONG, at + SendRequestLayout.SWAP);
        } else {
            remoteKey = memory.get(JAVA_INT, at + SendRequestLayout.REMOTE_KEY);
            queueKey = memory.get(JAVA_INT, at + SendRequestLayout.DESTINATION_KEY);
        }
        elements = memory.get(JAVA_INT, at + SendRequestLayout.ELEMENT_COUNT);
        length = 0;
        for (int i = 0; i < elements; i++) {
            length += RequestChain.length(memory, elementAt(i));
        }
        if (elements == 1) {
            address = memory.get(JAVA_LONG, elementAt(0) + ReceiveRequestLayout.ELEMENT_ADDRESS);
            localKey = memory.get(JAVA_INT, elementAt(0) + ReceiveRequestLayout.ELEMENT_KEY);
        }
    }

    /// The memory of the request, in which everything is up to date now.
    public MemorySegment inMemory() {
        if (!written) {
            write();
            written = true;
        }
        return memory;
    }

    private void write() {
        memory.set(JAVA_LONG, at + SendRequestLayout.WORK_ID, workId);
        memory.set(JAVA_INT, at + SendRequestLayout.ELEMENT_COUNT, elements);
        memory.set(JAVA_INT, at + SendRequestLayout.OPCODE, opcode);
        memory.set(JAVA_INT, at + SendRequestLayout.FLAGS, flags);
        memory.set(JAVA_INT, at + SendRequestLayout.IMMEDIATE, immediate);
        memory.set(JAVA_LONG, at + SendRequestLayout.REMOTE_ADDRESS, remoteAddress);
        if (isAtomic()) {
            memory.set(JAVA_LONG, at + SendRequestLayout.COMPARE_ADD, operand);
            memory.set(JAVA_LONG, at + SendRequestLayout.SWAP, swap);
            memory.set(JAVA_INT, at + SendRequestLayout.ATOMIC_KEY, remoteKey);
        } else {
            memory.set(JAVA_INT, at + SendRequestLayout.REMOTE_KEY, remoteKey);
            memory.set(JAVA_INT, at + SendRequestLayout.DESTINATION_KEY, queueKey);
        }
        if (elements == 1) {
            RequestChain.put(memory, elementAt(0), address, length, localKey);
        }
    }

    private boolean isAtomic() {
        return opcode == SendOpcode.COMPARE_AND_SWAP.code() || opcode == SendOpcode.FETCH_AND_ADD.code();
    }

    private long elementAt(int element) {
        return memory.get(JAVA_LONG, at + SendRequestLayout.ELEMENTS)
                - memory.address()
                + (long) element * ReceiveRequestLayout.ELEMENT_BYTES;
    }

    /// The memory of its place, where the payload is that a batch has copied.
    public MemorySegment memory() {
        return memory;
    }

    /// The offset of its place in memory.
    public long at() {
        return at;
    }
}
