package io.rdmacomm.nio.rsocket;

import java.util.ArrayDeque;
import java.util.Deque;

/// Parts of an object that is being made. They are closed, newest first, unless all could be made.
final class Partial implements AutoCloseable {
    private final Deque<AutoCloseable> parts = new ArrayDeque<>();

    /// Adds a part.
    <T extends AutoCloseable> T add(T part) {
        parts.push(part);
        return part;
    }

    /// Everything could be made.
    void keep() {
        parts.clear();
    }

    @Override
    public void close() {
        while (!parts.isEmpty()) {
            try {
                parts.pop().close();
            } catch (Exception e) {
                throw new IllegalStateException("could not give back a part of a connection", e);
            }
        }
    }
}
