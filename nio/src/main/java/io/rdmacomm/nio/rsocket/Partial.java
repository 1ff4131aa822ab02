package io.rdmacomm.nio.rsocket;

import io.rdmacomm.verbs.service.SafeLogger;
import java.lang.System.Logger.Level;
import java.util.ArrayDeque;
import java.util.Deque;

/// Parts of an object that is being made. They are closed, newest first, unless all could be made.
final class Partial implements AutoCloseable {
    private static final SafeLogger LOGGER = SafeLogger.of(Partial.class);

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
            AutoCloseable part = parts.pop();
            try {
                part.close();
            } catch (Exception | Error e) {
                // The others are given back, and whoever made the object learns why it could not be made.
                LOGGER.log(Level.WARNING, () -> "could not give back " + part, e);
            }
        }
    }
}
