package io.rdmacomm.soft;

import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Device;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.TransportType;

/// A device in software. Its GID is the address it is bound to; each opened context has a LID of its own.
final class SoftDevice extends Device {
    private final String provider;
    private final DeviceSettings settings;
    private final Gid gid;

    SoftDevice(String provider, DeviceSettings settings) {
        this.provider = provider;
        this.settings = settings;
        this.gid = Gid.of(settings.tcp().address());
    }

    DeviceSettings settings() {
        return settings;
    }

    @Override
    public String name() {
        return settings.name();
    }

    @Override
    public String provider() {
        return provider;
    }

    /// A locally administered number made of the name and the address, the same at every start.
    @Override
    public long guid() {
        return 0x0200_0000_0000_0000L | (name().hashCode() & 0xffffL) << 32 | (gid.low() & 0xffff_ffffL);
    }

    @Override
    public TransportType transport() {
        return TransportType.UNSPECIFIED;
    }

    Gid gid() {
        return gid;
    }

    @Override
    protected Context doOpen() {
        return SoftContext.open(this);
    }
}
