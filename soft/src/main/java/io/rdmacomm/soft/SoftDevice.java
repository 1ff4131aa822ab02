package io.rdmacomm.soft;

import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.Device;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.TransportType;
import java.net.InetAddress;

/// A device in software. Its GID is the address it is bound to; each opened context has a LID of its own.
final class SoftDevice extends Device {
    private final String provider;
    private final String name;
    private final Gid gid;

    SoftDevice(String provider, String name, InetAddress address) {
        this.provider = provider;
        this.name = name;
        this.gid = Gid.of(address);
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public String provider() {
        return provider;
    }

    /// A locally administered number made of the name and the address, the same at every start.
    @Override
    public long guid() {
        return 0x0200_0000_0000_0000L | (name.hashCode() & 0xffffL) << 32 | (gid.low() & 0xffff_ffffL);
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
