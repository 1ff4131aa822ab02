package io.rdmacomm.comm.data;

import io.rdmacomm.verbs.SendBatch;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Operations that are posted together: their work requests, and the channel's record of each.
public final class PreparedOperations<H> {
    private final SendBatch batch;
    private final List<@Nullable H> handlers;
    private final long[] contexts;
    private final long[] lengths;
    private final byte[] kinds;
    private int sends;

    /// @param arena for the work requests
    public PreparedOperations(Arena arena, int capacity) {
        batch = SendBatch.create(arena, capacity, 1);
        handlers = new ArrayList<@Nullable H>(capacity);
        for (int i = 0; i < capacity; i++) {
            handlers.add(null);
        }
        contexts = new long[capacity];
        lengths = new long[capacity];
        kinds = new byte[capacity];
    }

    /// Adds an operation, for which there is room.
    public void add(Operation operation, H handler, long context) {
        int index = batch.size();
        operation.appendTo(batch, 0, 0, 0);
        handlers.set(index, handler);
        contexts[index] = context;
        lengths[index] = operation.length();
        kinds[index] = (byte) operation.kind();
        sends += operation.needsCredit() ? 1 : 0;
    }

    /// The number of operations it has room for.
    public int capacity() {
        return batch.capacity();
    }

    /// The number of operations in it.
    public int size() {
        return batch.size();
    }

    /// The number of operations in it that use up a receive of the peer.
    public int sends() {
        return sends;
    }

    /// Removes all operations.
    public void clear() {
        batch.clear();
        sends = 0;
    }

    SendBatch batch() {
        return batch;
    }

    @Nullable
    H handler(int index) {
        return handlers.get(index);
    }

    long context(int index) {
        return contexts[index];
    }

    long length(int index) {
        return lengths[index];
    }

    int kind(int index) {
        return kinds[index];
    }
}
