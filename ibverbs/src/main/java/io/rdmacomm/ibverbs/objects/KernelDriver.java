package io.rdmacomm.ibverbs.objects;

import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.SharedReceiveQueueOptions;
import io.rdmacomm.verbs.spi.CompletionQueueDriver;
import io.rdmacomm.verbs.spi.QueuePairDriver;
import io.rdmacomm.verbs.spi.QueuePairRequest;
import io.rdmacomm.verbs.spi.SharedReceiveQueueDriver;
import java.util.Set;

/// The hook for the defects of a kernel driver, one object for each open device. This class fits every driver that
/// follows the man pages of libibverbs. A driver with defects has a subclass in another package, which creates
/// objects that work around them; other devices never load it.
public class KernelDriver {
    private final boolean postsInUserSpace;

    /// @param postsInUserSpace whether a post is a few stores to the device, rather than a system call that may
    ///         execute the whole transfer
    public KernelDriver(boolean postsInUserSpace) {
        this.postsInUserSpace = postsInUserSpace;
    }

    final boolean postsInUserSpace() {
        return postsInUserSpace;
    }

    /// Capabilities that the driver lacks although the attributes of its devices suggest them.
    protected Set<Capability> missing() {
        return Set.of();
    }

    /// The reason why messages and answers must not arrive in memory whose addresses in requests are not
    /// those of this process; empty if they may. Drivers that copy data in ibv_poll_cq(3) have such a reason.
    protected String whyNoArrivalsAtOffsets() {
        return "";
    }

    /// How long a new connection waits until the peer can be expected to receive, in nanoseconds.
    protected long connectPauseNanos() {
        return 0;
    }

    /// Creates a completion queue (ibv_create_cq(3)).
    ///
    /// @param channel the address of the struct of its completion channel; 0 for none
    protected CompletionQueueDriver createCompletionQueue(
            NativeContext device, int capacity, long channel, int vector) {
        return new IbvCompletionQueue(device, capacity, channel, vector);
    }

    /// Creates a shared receive queue (ibv_create_srq(3)).
    ///
    /// @param domain the address of the struct of its protection domain
    protected SharedReceiveQueueDriver createSharedReceiveQueue(
            NativeContext device, long domain, SharedReceiveQueueOptions options) {
        return IbvSharedReceiveQueue.create(device, domain, options);
    }

    /// Creates a queue pair (ibv_create_qp(3)).
    ///
    /// @param domain the address of the struct of its protection domain
    protected QueuePairDriver createQueuePair(NativeContext device, long domain, QueuePairRequest request) {
        return new IbvQueuePair(device, domain, request);
    }

    /// Releases the driver's resources in the device, which has no other objects left and is closed next.
    protected void release(NativeContext device) {}
}
