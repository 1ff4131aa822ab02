package io.rdmacomm.comm.data;

import io.rdmacomm.verbs.PlainRequest;
import io.rdmacomm.verbs.SendBatch;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Operations that are started together: what each of them does, and whom it tells its end.
public final class PreparedOperations<H> {
    private final SendBatch batch;
    private final List<Operation> operations;
    private final PlainRequest[] requests;
    private final List<@Nullable H> handlers;
    private final long[] contexts;
    private int size;
    private int sends;

    /// @param arena for the work requests
    /// @param elements the most elements of local memory of an operation
    /// @param sends creates the operations
    public PreparedOperations(Arena arena, int capacity, int elements, SendQueue<H> sends) {
        batch = SendBatch.create(arena, capacity, elements);
        operations = new ArrayList<>(capacity + 1);
        requests = new PlainRequest[capacity];
        handlers = new ArrayList<@Nullable H>(capacity);
        for (int i = 0; i < capacity; i++) {
            operations.add(sends.newOperation());
            handlers.add(null);
            requests[i] = operations.get(i).request();
        }
        // For next(), if all are in use.
        operations.add(sends.newOperation());
        contexts = new long[capacity];
    }

    /// The operation that [#add] adds, to be set before.
    public Operation next() {
        return operations.get(size);
    }

    /// Adds the next operation, for which there is room.
    ///
    /// @param handler null if nobody is told its end
    public void add(@Nullable H handler, long context) {
        sends += next().needsCredit() ? 1 : 0;
        handlers.set(size, handler);
        contexts[size] = context;
        size++;
    }

    /// The number of operations it has room for.
    public int capacity() {
        return contexts.length;
    }

    /// The number of operations in it.
    public int size() {
        return size;
    }

    /// The number of operations in it that use up a receive of the peer.
    public int sends() {
        return sends;
    }

    /// Removes all operations.
    public void clear() {
        size = 0;
        sends = 0;
    }

    /// The work requests of the operations; the caller fills and posts them.
    SendBatch batch() {
        return batch;
    }

    /// The operations as plain requests. All kinds that can be added are plain.
    PlainRequest[] requests() {
        return requests;
    }

    Operation get(int index) {
        return operations.get(index);
    }

    @Nullable
    H handler(int index) {
        return handlers.get(index);
    }

    long context(int index) {
        return contexts[index];
    }
}
