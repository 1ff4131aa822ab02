package io.rdmacomm.fault;

import io.rdmacomm.verbs.TransportType;
import io.rdmacomm.verbs.spi.ContextDriver;
import io.rdmacomm.verbs.spi.DeviceDriver;

/// A device that injects faults into another one.
///
/// @param name contains the rules and, if they depend on it, the seed
record FaultDevice(String name, DeviceDriver real, FaultPlan plan) implements DeviceDriver {
    @Override
    public String provider() {
        return FaultProvider.NAME;
    }

    @Override
    public long guid() {
        return real.guid();
    }

    @Override
    public TransportType transport() {
        return real.transport();
    }

    @Override
    public boolean isSoftware() {
        return real.isSoftware();
    }

    @Override
    public ContextDriver open() {
        ContextDriver opened = real.open();
        try {
            return new FaultContext(name, opened, plan);
        } catch (RuntimeException e) {
            opened.closing();
            opened.close();
            throw e;
        }
    }
}
