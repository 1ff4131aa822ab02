package io.rdmacomm.soft;

import io.rdmacomm.verbs.TransportType;
import io.rdmacomm.verbs.spi.ContextDriver;
import io.rdmacomm.verbs.spi.DeviceDriver;

/// A software device. Its GID is the address it is bound to; each opened context has its own LID.
final class SoftDevice implements DeviceDriver {
    private final String provider;
    private final DeviceSettings settings;

    SoftDevice(String provider, DeviceSettings settings) {
        this.provider = provider;
        this.settings = settings;
    }

    @Override
    public String name() {
        return settings.name();
    }

    @Override
    public String provider() {
        return provider;
    }

    @Override
    public long guid() {
        return settings.guid();
    }

    /// RoCE packets are InfiniBand packets; shared memory with iWARP is neither InfiniBand nor iWARP.
    @Override
    public TransportType transport() {
        return settings.roce() ? TransportType.INFINIBAND : TransportType.UNSPECIFIED;
    }

    @Override
    public boolean isSoftware() {
        return true;
    }

    @Override
    public ContextDriver open() {
        return SoftContext.open(settings);
    }
}
