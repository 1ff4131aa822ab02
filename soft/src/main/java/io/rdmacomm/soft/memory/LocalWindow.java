package io.rdmacomm.soft.memory;

import org.jspecify.annotations.Nullable;

/// A memory window of this context: a key that can be bound to a part of a region.
public final class LocalWindow {
    private final int domain;
    private final boolean typeTwo;
    private volatile int key;
    private @Nullable LocalRegion region;

    /// A window that is not bound.
    ///
    /// @param domain number of its protection domain
    /// @param typeTwo whether it is of type 2, which belongs to the queue pair that binds it
    public LocalWindow(int key, int domain, boolean typeTwo) {
        this.key = key;
        this.domain = domain;
        this.typeTwo = typeTwo;
    }

    /// The present key.
    public int key() {
        return key;
    }

    /// The index of its key, which never changes.
    public long handle() {
        return Integer.toUnsignedLong(key) >>> 16;
    }

    int domain() {
        return domain;
    }

    boolean isTypeTwo() {
        return typeTwo;
    }

    synchronized boolean isAttached() {
        return region != null;
    }

    synchronized void attach(int newKey, LocalRegion to) {
        detach();
        key = newKey;
        region = to;
        to.countWindow(1);
    }

    synchronized void detach() {
        LocalRegion bound = region;
        region = null;
        if (bound != null) {
            bound.countWindow(-1);
        }
    }

    /// Sets the key that the next binding will make valid.
    void announceKey(int next) {
        key = next;
    }
}
