package io.rdmacomm.ibverbs.siw;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdmacomm.verbs.SendOpcode;
import io.rdmacomm.verbs.spi.ReceiveRequestLayout;
import io.rdmacomm.verbs.spi.RequestChain;
import io.rdmacomm.verbs.spi.SendRequestLayout;
import java.lang.foreign.Arena;

/// Send requests in memory, as a batch writes them.
final class Requests {
    private static final int CAPACITY = 4;
    private static final int ELEMENTS = 2;

    private final RequestChain chain;
    private int size;

    Requests(Arena arena) {
        long each = SendRequestLayout.BYTES + ELEMENTS * ReceiveRequestLayout.ELEMENT_BYTES;
        chain = new RequestChain(arena.allocate(CAPACITY * each, 8), CAPACITY, SendRequestLayout.BYTES, ELEMENTS);
    }

    RequestChain chain() {
        return chain;
    }

    /// The number of requests.
    int size() {
        return size;
    }

    /// Appends a request.
    ///
    /// @param flags those of [SendRequestLayout]
    /// @param remote the remote address
    Requests add(SendOpcode opcode, int flags, long remote) {
        long at = chain.at(size);
        chain.segment().set(JAVA_LONG, at + SendRequestLayout.WORK_ID, size++);
        chain.segment().set(JAVA_INT, at + SendRequestLayout.ELEMENT_COUNT, 0);
        chain.segment().set(JAVA_INT, at + SendRequestLayout.OPCODE, opcode.code());
        chain.segment().set(JAVA_INT, at + SendRequestLayout.FLAGS, flags);
        chain.segment().set(JAVA_LONG, at + SendRequestLayout.REMOTE_ADDRESS, remote);
        return this;
    }

    /// Adds an element to the last request.
    Requests with(long address, int length) {
        int count = chain.elementCount(size - 1);
        chain.put(size - 1, count, address, length, 0);
        chain.segment().set(JAVA_INT, chain.at(size - 1) + SendRequestLayout.ELEMENT_COUNT, count + 1);
        return this;
    }
}
