package io.rdmacomm.fault;

import io.rdmacomm.verbs.MemoryWindow;

/// Stands for a memory window.
final class FaultMemoryWindow extends MemoryWindow {
    private final MemoryWindow real;

    FaultMemoryWindow(FaultProtectionDomain domain, MemoryWindow real) {
        super(domain, real.type());
        this.real = real;
    }

    MemoryWindow real() {
        return real;
    }

    @Override
    public int remoteKey() {
        return real.remoteKey();
    }

    @Override
    public long handle() {
        return real.handle();
    }

    @Override
    protected void doClose() {
        real.close();
    }
}
