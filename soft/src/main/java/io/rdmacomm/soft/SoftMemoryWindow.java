package io.rdmacomm.soft;

import io.rdmacomm.verbs.MemoryWindow;
import io.rdmacomm.verbs.MemoryWindowType;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/// A memory window: a key that can be pointed at a part of a region.
final class SoftMemoryWindow extends MemoryWindow {
    private final SoftContext context;
    private final SoftProtectionDomain domain;
    private volatile int key;
    private @Nullable SoftMemoryRegion region;

    SoftMemoryWindow(SoftProtectionDomain domain, MemoryWindowType type) {
        super(domain, type);
        this.domain = domain;
        this.context = domain.softContext();
        try {
            this.key = context.keys().allocate();
        } catch (IOException e) {
            throw context.noSpace("allocate memory window (ibv_alloc_mw)", "a key", e);
        }
        context.windows().put(handle(), this);
    }

    int domainNumber() {
        return domain.number();
    }

    /// Whether it is bound now; a peer may have invalidated it.
    synchronized boolean isBound() {
        if (region != null && !context.isValid(key)) {
            detach();
        }
        return region != null;
    }

    /// Points the key `newKey` at a region.
    synchronized void attach(int newKey, SoftMemoryRegion to) {
        detach();
        key = newKey;
        region = to;
        to.countWindow(1);
    }

    /// Makes the present key invalid. Does not wait for operations that are under way: it is part of the data
    /// path.
    synchronized void invalidate() {
        context.keys().revoke(key);
        detach();
    }

    /// Sets the key that the next binding will make valid.
    void announceKey(int next) {
        key = next;
    }

    private void detach() {
        SoftMemoryRegion bound = region;
        region = null;
        if (bound != null) {
            bound.countWindow(-1);
        }
    }

    @Override
    public int remoteKey() {
        return key;
    }

    /// The index of its key, which never changes.
    @Override
    public long handle() {
        return Integer.toUnsignedLong(key) >>> 16;
    }

    @Override
    protected void doClose() {
        invalidate();
        context.quiesce();
        context.windows().remove(handle());
        context.keys().free(key);
    }
}
