package io.rdmacomm.fault;

import io.rdmacomm.verbs.AddressHandle;

/// Stands for an address handle.
final class FaultAddressHandle extends AddressHandle {
    private final AddressHandle real;

    FaultAddressHandle(FaultProtectionDomain domain, AddressHandle real) {
        super(domain);
        this.real = real;
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
