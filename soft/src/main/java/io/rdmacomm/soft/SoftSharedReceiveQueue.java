package io.rdmacomm.soft;

import io.rdmacomm.soft.mapped.ReceiveRing;
import io.rdmacomm.soft.memory.ElementList;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.ReceiveBatch;
import io.rdmacomm.verbs.SharedReceiveQueue;
import io.rdmacomm.verbs.SharedReceiveQueueOptions;
import io.rdmacomm.verbs.VerbException;
import java.io.IOException;

/// A shared receive queue is a receive ring that several queue pairs point at.
final class SoftSharedReceiveQueue extends SharedReceiveQueue {
    private final SoftContext context;
    private final int elements;
    private final int number;
    private final ReceiveRing ring;
    /// A limit was armed and nobody has told of it since. The ring does not say that: takers disarm before they tell.
    private boolean awaiting;

    SoftSharedReceiveQueue(SoftProtectionDomain domain, SharedReceiveQueueOptions options) {
        super(domain, options);
        this.context = domain.softContext();
        this.elements = options.elements();
        if (options.receives() > SoftLimits.MAX_DEPTH || options.elements() > ElementList.MAX_ELEMENTS) {
            throw new VerbException(
                    "create shared receive queue (ibv_create_srq)",
                    Errno.EINVAL,
                    options + " is more than " + SoftLimits.MAX_DEPTH + " receives of " + ElementList.MAX_ELEMENTS
                            + " elements");
        }
        this.number = context.objects().nextNumber();
        try {
            this.ring = ReceiveRing.create(
                    context.control(), options.receives(), options.elements(), number, domain.number());
        } catch (IOException e) {
            throw context.noSpace("create shared receive queue (ibv_create_srq)", options.receives() + " receives", e);
        }
        doArmLimit(options.limit());
        context.objects().add(number, this);
    }

    /// The number by which peers know it.
    int number() {
        return number;
    }

    ReceiveRing ring() {
        return ring;
    }

    @Override
    protected int doPost(ReceiveBatch batch, int first, int count) {
        int taken = 0;
        while (taken < count && ring.post(batch.segment(), batch.at(first + taken), batch.elementsAt(first + taken))) {
            taken++;
        }
        return taken;
    }

    @Override
    protected synchronized void doArmLimit(int limit) {
        awaiting = limit > 0;
        ring.armLimit(limit);
    }

    /// A taker tells that it has disarmed the limit.
    synchronized void told() {
        // It may be armed again already.
        awaiting &= ring.limit() != 0;
    }

    /// A peer has died, perhaps between taking a receive and telling of the limit.
    ///
    /// @return whether nobody will tell of a limit that was reached
    synchronized boolean isUntold() {
        boolean untold = awaiting && (ring.limit() == 0 || ring.taker().crossedLimit());
        awaiting &= !untold;
        return untold;
    }

    @Override
    protected void doResize(int receives) {
        try {
            if (!ring.resize(receives)) {
                throw tooManyPosted(receives, ring.size());
            }
        } catch (IOException e) {
            throw context.noSpace("modify shared receive queue (ibv_modify_srq)", receives + " receives", e);
        }
    }

    @Override
    protected SharedReceiveQueueOptions doQuery() {
        return new SharedReceiveQueueOptions(ring.depth(), elements, ring.limit());
    }

    @Override
    protected void doDestroy() {
        context.objects().remove(number);
        context.objects().quarantine().free(ring, ring::free);
    }
}
