package io.rdmacomm.nio.rsocket;

import io.rdmacomm.verbs.service.SafeLogger;
import java.lang.System.Logger.Level;
import java.util.ArrayDeque;
import java.util.Deque;

/// The parts of an object under construction. They are closed, newest first, unless the construction succeeds.
final class Partial implements AutoCloseable {
    private static final SafeLogger LOGGER = SafeLogger.of(Partial.class);

    private final Deque<AutoCloseable> parts = new ArrayDeque<>();

    /// Adds a part.
    <T extends AutoCloseable> T add(T part) {
        parts.push(part);
        return part;
    }

    /// The construction has succeeded: keeps the parts.
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
                // Continues with the other parts. The caller learns why the construction failed.
                LOGGER.log(Level.WARNING, () -> "could not give back " + part, e);
            }
        }
    }
}
