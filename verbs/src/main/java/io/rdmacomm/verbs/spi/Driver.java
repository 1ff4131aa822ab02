package io.rdmacomm.verbs.spi;

import org.jspecify.annotations.Nullable;

/// A provider's implementation of one verbs object.
public interface Driver {
    /// The name of the object in messages to its user.
    @Override
    String toString();

    /// Wakes the threads that wait on this object. Called once when closing begins, before its children are closed.
    default void closing() {}

    /// The reason why the object cannot be closed now, apart from objects that depend on it; null if there is none.
    default @Nullable String busyWith() {
        return null;
    }

    /// Releases the object. Called once, after its children were closed and no thread is in another call,
    /// except calls that are documented otherwise.
    void close();
}
