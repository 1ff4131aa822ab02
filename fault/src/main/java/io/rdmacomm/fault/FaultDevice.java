package io.rdmacomm.fault;

import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Device;
import io.rdmacomm.verbs.TransportType;

/// A device that injects faults into another one. Its name has the rules and, if they depend on it, the seed.
final class FaultDevice extends Device {
    private final String name;
    private final Device real;
    private final FaultPlan plan;

    FaultDevice(String name, Device real, FaultPlan plan) {
        this.name = name;
        this.real = real;
        this.plan = plan;
    }

    @Override
    public String name() {
        return name;
    }

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
    protected Context doOpen() {
        Context opened = real.open();
        try {
            return new FaultContext(this, opened, plan);
        } catch (RuntimeException e) {
            opened.close();
            throw e;
        }
    }
}
