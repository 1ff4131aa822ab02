package io.rdmacomm.comm;

import org.jspecify.annotations.Nullable;

/// What a channel has to remember of the operations in a batch: one entry for each work request.
final class PreparedOperations {
    private final @Nullable CompletionHandler[] handlers;
    private final long[] contexts;
    private final long[] lengths;
    private final byte[] kinds;

    PreparedOperations(int capacity) {
        handlers = new @Nullable CompletionHandler[capacity];
        contexts = new long[capacity];
        lengths = new long[capacity];
        kinds = new byte[capacity];
    }

    void set(int index, Operation operation, CompletionHandler handler, long context) {
        handlers[index] = handler;
        contexts[index] = context;
        lengths[index] = operation.length();
        kinds[index] = (byte) operation.kind();
    }

    @Nullable
    CompletionHandler handler(int index) {
        return handlers[index];
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
