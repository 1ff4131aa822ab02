package io.rdmacomm.soft;

import io.rdmacomm.soft.mapped.ReceiveRing;
import io.rdmacomm.soft.memory.ElementList;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.SharedReceiveQueueOptions;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.spi.RequestChain;
import io.rdmacomm.verbs.spi.SharedReceiveQueueDriver;
import java.io.IOException;

/// A shared receive queue: a receive ring that several queue pairs refer to.
final class SoftSharedReceiveQueue implements SharedReceiveQueueDriver {
    private final SoftContext context;
    private final int elements;
    private final int number;
    private final ReceiveRing ring;
    /// A limit was armed and not reported since. The ring does not tell: takers disarm before they report.
    private boolean awaiting;

    SoftSharedReceiveQueue(SoftContext context, int domain, int receives, int elements, int limit) {
        this.context = context;
        this.elements = elements;
        if (receives > SoftLimits.MAX_DEPTH || elements > ElementList.MAX_ELEMENTS) {
            throw new VerbException(
                    "create shared receive queue (ibv_create_srq)",
                    Errno.EINVAL,
                    receives + " receives of " + elements + " elements are more than " + SoftLimits.MAX_DEPTH + " of "
                            + ElementList.MAX_ELEMENTS + " elements");
        }
        this.number = context.objects().nextNumber();
        try {
            this.ring = ReceiveRing.create(context.control(), receives, elements, number, domain);
        } catch (IOException e) {
            throw context.noSpace("create shared receive queue (ibv_create_srq)", receives + " receives", e);
        }
        armLimit(limit);
        context.objects().add(number, this);
    }

    /// The number, which peers use, too.
    @Override
    public long handle() {
        return number;
    }

    ReceiveRing ring() {
        return ring;
    }

    @Override
    public int post(RequestChain batch, int first, int count) {
        int taken = 0;
        while (taken < count
                && ring.post(batch.segment(), batch.at(first + taken), batch.elementsAt(first + taken), false)) {
            taken++;
        }
        return taken;
    }

    @Override
    public synchronized void armLimit(int limit) {
        awaiting = limit > 0;
        ring.armLimit(limit);
    }

    /// A taker reports that it has disarmed the limit.
    synchronized void limitReported() {
        // The limit may already be armed again.
        awaiting &= ring.limit() != 0;
    }

    /// A peer has died, perhaps between taking a receive and reporting the limit.
    ///
    /// @return whether no taker will report a limit that was reached
    synchronized boolean isLimitUnreported() {
        boolean unreported = awaiting && (ring.limit() == 0 || ring.taker().crossedLimit());
        awaiting &= !unreported;
        return unreported;
    }

    @Override
    public long resize(int receives, long mostPosted) {
        try {
            // Messages may meanwhile have used some of the posted receives.
            return ring.resize(receives) ? 0 : Math.max(ring.size(), receives + 1);
        } catch (IOException e) {
            throw context.noSpace("modify shared receive queue (ibv_modify_srq)", receives + " receives", e);
        }
    }

    @Override
    public SharedReceiveQueueOptions query() {
        return SharedReceiveQueueOptions.ofDepth(ring.depth())
                .withElements(elements)
                .withLimit(ring.limit());
    }

    @Override
    public void close() {
        context.objects().remove(number);
        context.objects().pendingFrees().free(ring, ring::free);
    }

    @Override
    public String toString() {
        return "shared receive queue on " + context;
    }
}
