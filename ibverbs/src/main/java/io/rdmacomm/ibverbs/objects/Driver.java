package io.rdmacomm.ibverbs.objects;

import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.ProtectionDomain;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairOptions;
import io.rdmacomm.verbs.SharedReceiveQueue;
import io.rdmacomm.verbs.SharedReceiveQueueOptions;
import java.util.Set;

/// The hook for the peculiarities of a kernel driver, one object for each open device. This class fits
/// every driver that follows the man pages of libibverbs. A driver with defects has a subclass in a
/// package of its own, which creates objects that work around them; other devices never load it.
public class Driver {
    private final boolean postsInUserSpace;

    /// @param postsInUserSpace whether a post is a few stores to the device, and not a system call that may carry out
    /// the whole transfer
    public Driver(boolean postsInUserSpace) {
        this.postsInUserSpace = postsInUserSpace;
    }

    final boolean postsInUserSpace() {
        return postsInUserSpace;
    }

    /// Capabilities that the driver lacks although the attributes of its devices suggest that it has them.
    protected Set<Capability> missing() {
        return Set.of();
    }

    /// The reason why messages and answers must not arrive in memory whose addresses in requests are not
    /// those of this process; empty if they may. So it is with drivers that copy them in ibv_poll_cq(3).
    protected String whyNoArrivalsAtOffsets() {
        return "";
    }

    /// How long a new connection waits before the peer can be expected to receive, in nanoseconds.
    protected long connectPauseNanos() {
        return 0;
    }

    /// Creates a completion queue (ibv_create_cq(3)).
    protected CompletionQueue createCompletionQueue(
            NativeContext device, Context context, CompletionQueueOptions options) {
        return new IbvCompletionQueue(device, context, options);
    }

    /// Creates a shared receive queue (ibv_create_srq(3)) in the protection domain whose struct is at `domainAddress`.
    protected SharedReceiveQueue createSharedReceiveQueue(
            NativeContext device, ProtectionDomain domain, long domainAddress, SharedReceiveQueueOptions options) {
        return IbvSharedReceiveQueue.create(device, domain, domainAddress, options);
    }

    /// Creates a queue pair (ibv_create_qp(3)) in the protection domain whose struct is at `domainAddress`.
    protected QueuePair createQueuePair(
            NativeContext device, ProtectionDomain domain, long domainAddress, QueuePairOptions options) {
        return new IbvQueuePair(device, domain, domainAddress, options);
    }

    /// Releases what the driver holds in the device, which is closed next and has no other objects any more.
    ///
    /// @param subject what the device is called in messages
    protected void release(NativeContext device, String subject) {}
}
