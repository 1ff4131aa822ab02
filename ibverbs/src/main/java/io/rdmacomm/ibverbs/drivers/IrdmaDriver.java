package io.rdmacomm.ibverbs.drivers;

import io.rdmacomm.ibverbs.objects.KernelDriver;
import io.rdmacomm.verbs.Capability;
import java.util.Set;

/// The adapters E810 and X722. The kernel's `irdma_create_qp` makes reliable connections, and over RoCE datagrams.
public final class IrdmaDriver extends KernelDriver {
    /// A driver for one open device.
    public IrdmaDriver() {
        super(true);
    }

    @Override
    protected Set<Capability> missing() {
        return Set.of(Capability.UNRELIABLE_CONNECTED);
    }
}
