package io.rdmacomm.comm;

import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.service.Closer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// The buffers that an endpoint has announced to its peer, by name, and the registrations that grant the peer
/// rights. Thread-safe.
final class Announcements {
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, Entry> entries = new HashMap<>();
    private boolean over;

    /// One announcement.
    ///
    /// @param own the registration for this peer only; null if the peer uses the buffer's own key
    private record Entry(RdmaBuffer buffer, @Nullable MemoryRegion own) {
        void revoke() {
            if (own != null) {
                buffer.revoke(own);
            }
        }
    }

    /// Adds a buffer. The peer gets the buffer's own key. Adding it again changes nothing.
    ///
    /// @throws IllegalArgumentException if another buffer, or a registration for the peer, has that name
    RemoteBuffer add(RdmaBuffer buffer) {
        lock.lock();
        try {
            Entry before = valid(buffer.name());
            if (before != null && (!before.buffer.equals(buffer) || before.own != null)) {
                throw taken(buffer);
            }
            entries.put(buffer.name(), new Entry(buffer, null));
            return buffer.asRemote();
        } finally {
            lock.unlock();
        }
    }

    /// Adds a buffer with a registration for the peer.
    ///
    /// @param rights the peer's, at least one
    /// @throws IllegalArgumentException if a buffer was announced under that name, or the buffer is closed
    /// @throws io.rdmacomm.verbs.VerbException if the device cannot register it
    /// @throws ClosedException if the endpoint has ended
    RemoteBuffer add(RdmaBuffer buffer, Set<AccessFlag> rights) {
        lock.lock();
        try {
            if (over) {
                throw new ClosedException("the endpoint has ended", null);
            }
            if (valid(buffer.name()) != null) {
                throw taken(buffer);
            }
            MemoryRegion own = buffer.grant(rights);
            entries.put(buffer.name(), new Entry(buffer, own));
            return RemoteBuffer.of(buffer.name(), own.address(), own.length(), own.remoteKey(), rights);
        } finally {
            lock.unlock();
        }
    }

    /// The announcement under that name; null if there is none, or its buffer was closed.
    private @Nullable Entry valid(String name) {
        Entry found = entries.get(name);
        return found == null || !found.buffer.isOpen() ? null : found;
    }

    private static IllegalArgumentException taken(RdmaBuffer buffer) {
        return new IllegalArgumentException(
                "a buffer '" + buffer.name() + "' was announced already; withdraw it first, or use another name");
    }

    /// Whether this buffer was announced and not withdrawn.
    boolean contains(RdmaBuffer buffer) {
        lock.lock();
        try {
            Entry found = entries.get(buffer.name());
            return found != null && found.buffer.equals(buffer);
        } finally {
            lock.unlock();
        }
    }

    /// Removes a buffer, and the rights that only the peer had.
    void remove(RdmaBuffer buffer) {
        Entry found = null;
        lock.lock();
        try {
            if (contains(buffer)) {
                found = entries.remove(buffer.name());
            }
        } finally {
            lock.unlock();
        }
        if (found != null) {
            found.revoke();
        }
    }

    /// Removes all; registrations for the peer can no longer be added.
    void end() {
        List<Entry> rest;
        lock.lock();
        try {
            over = true;
            rest = List.copyOf(entries.values());
            entries.clear();
        } finally {
            lock.unlock();
        }
        rest.forEach(entry -> Closer.step(entry.buffer, entry::revoke));
    }
}
