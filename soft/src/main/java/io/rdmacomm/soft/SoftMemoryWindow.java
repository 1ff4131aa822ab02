package io.rdmacomm.soft;

import io.rdmacomm.soft.memory.LocalWindow;
import io.rdmacomm.verbs.MemoryWindowType;
import io.rdmacomm.verbs.spi.MemoryWindowDriver;
import java.io.IOException;

/// A memory window: a key that can be bound to a part of a region.
final class SoftMemoryWindow implements MemoryWindowDriver {
    private final SoftContext context;
    private final LocalWindow local;

    SoftMemoryWindow(SoftContext context, int domain, MemoryWindowType type) {
        this.context = context;
        try {
            int key = context.memory().allocateKey();
            this.local = new LocalWindow(key, domain, type == MemoryWindowType.TYPE_2);
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
    public void close() {
        context.memory().unbind(local);
        context.objects().quiesce(null);
        context.memory().remove(local);
        context.memory().freeKey(local.key());
    }

    @Override
    public String toString() {
        return "memory window 0x" + Integer.toHexString(remoteKey()) + " on " + context;
    }
}
