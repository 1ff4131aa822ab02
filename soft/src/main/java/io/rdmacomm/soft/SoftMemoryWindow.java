package io.rdmacomm.soft;

import io.rdmacomm.soft.memory.LocalWindow;
import io.rdmacomm.verbs.MemoryWindow;
import io.rdmacomm.verbs.MemoryWindowType;
import java.io.IOException;

/// A memory window: a key that can be pointed at a part of a region.
final class SoftMemoryWindow extends MemoryWindow {
    private final SoftContext context;
    private final LocalWindow local;

    SoftMemoryWindow(SoftProtectionDomain domain, MemoryWindowType type) {
        super(domain, type);
        this.context = domain.softContext();
        try {
            int key = context.memory().allocateKey();
            this.local = new LocalWindow(key, domain.number(), type == MemoryWindowType.TYPE_2);
        } catch (IOException e) {
            throw context.noSpace("allocate memory window (ibv_alloc_mw)", "a key", e);
        }
        context.memory().add(local);
    }

    @Override
    public int remoteKey() {
        return local.key();
    }

    @Override
    public long handle() {
        return local.handle();
    }

    @Override
    protected void doClose() {
        context.memory().unbind(local);
        context.objects().quiesce(null);
        context.memory().remove(local);
        context.memory().freeKey(local.key());
    }
}
