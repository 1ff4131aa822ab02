package io.rdmacomm.ibverbs.drivers;

import io.rdmacomm.ibverbs.objects.KernelDriver;
import io.rdmacomm.ibverbs.objects.NativeContext;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.spi.QueuePairDriver;
import io.rdmacomm.verbs.spi.QueuePairRequest;
import java.util.Set;

/// libmana as of rdma-core 64. It grants any number of inline bytes, but ignores the flag of an inline request,
/// whose memory the program may reuse at once. So queue pairs with inline data are rejected.
public final class ManaDriver extends KernelDriver {
    /// A driver for one open device.
    public ManaDriver() {
        super(true);
    }

    @Override
    protected Set<Capability> missing() {
        // It has no ibv_rereg_mr, and mana_create_qp knows only RC.
        return Set.of(
                Capability.REREGISTER_MEMORY,
                Capability.UNRELIABLE_CONNECTED,
                Capability.UNRELIABLE_DATAGRAM,
                Capability.MULTICAST,
                Capability.DATAGRAM_SERVICES);
    }

    @Override
    protected QueuePairDriver createQueuePair(NativeContext device, long domain, QueuePairRequest request) {
        int wanted = request.sizes().inlineBytes();
        if (wanted > 0) {
            throw new VerbException(
                    "create queue pair (ibv_create_qp)",
                    Errno.EINVAL,
                    wanted + " inline bytes, but " + device + " sends nothing inline");
        }
        return super.createQueuePair(device, domain, request);
    }
}
