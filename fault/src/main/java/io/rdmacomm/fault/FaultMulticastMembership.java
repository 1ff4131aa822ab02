package io.rdmacomm.fault;

import io.rdmacomm.verbs.cm.DatagramTarget;
import io.rdmacomm.verbs.cm.MulticastMembership;

/// Stands for the membership in a multicast group.
final class FaultMulticastMembership extends MulticastMembership {
    private final MulticastMembership real;

    FaultMulticastMembership(FaultConnectionManager manager, MulticastMembership real) {
        super(manager);
        this.real = real;
    }

    @Override
    public DatagramTarget target() {
        return real.target();
    }

    @Override
    protected void doClose() {
        real.close();
    }
}
