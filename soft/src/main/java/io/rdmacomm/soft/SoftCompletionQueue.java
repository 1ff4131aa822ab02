package io.rdmacomm.soft;

import io.rdmacomm.soft.shm.CompletionFields;
import io.rdmacomm.soft.shm.CompletionRing;
import io.rdmacomm.verbs.CompletionChannel;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.VerbException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// A completion queue is a ring in shared memory that own queue pairs and peers push to.
final class SoftCompletionQueue extends CompletionQueue {
    private final SoftContext context;
    private final int number;
    private final @Nullable SoftCompletionChannel channel;
    private final CompletionRing ring;
    private volatile @Nullable LinkPolling links;

    SoftCompletionQueue(SoftContext context, CompletionQueueOptions options) {
        super(context, options);
        this.context = context;
        this.number = context.nextNumber();
        CompletionChannel where = options.channel();
        this.channel = (SoftCompletionChannel) where;
        try {
            this.ring = CompletionRing.create(context.control(), options.capacity(), number, channel != null);
        } catch (IOException e) {
            throw context.noSpace("create completion queue (ibv_create_cq)", options.capacity() + " completions", e);
        }
        context.completionQueues().put(number, this);
    }

    CompletionRing ring() {
        return ring;
    }

    /// The TCP links whose completions come here.
    LinkPolling links() {
        LinkPolling known = links;
        return known == null ? makeLinks() : known;
    }

    private synchronized LinkPolling makeLinks() {
        LinkPolling made = links;
        if (made == null) {
            made = new LinkPolling();
            links = made;
        }
        return made;
    }

    /// Whether somebody waits for its next completion.
    boolean isArmed() {
        return ring.isArmed();
    }

    /// Appends a completion of this side. Any thread; does not allocate.
    void push(CompletionFields completion) {
        int result =
                CompletionRing.push(context.memory(), ring.offset(), context.lid(), context.memory(), 0, completion);
        if (result == CompletionRing.NOTIFY) {
            announce();
        } else if (result == CompletionRing.OVERRUN) {
            context.overran(number);
        }
    }

    /// Tells whoever waits that completions may have come in another way than by a push.
    void announceIfArmed() {
        if (ring.disarm()) {
            announce();
        }
    }

    /// It was armed and has a completion.
    void announce() {
        SoftCompletionChannel to = channel;
        if (to != null) {
            to.announce(this);
        }
    }

    @Override
    public int capacity() {
        return ring.capacity();
    }

    @Override
    protected int doPoll(MemorySegment into, int max) {
        int count = ring.poll(into, max);
        LinkPolling polled = links;
        if (count == 0 && polled != null) {
            polled.drive();
            count = ring.poll(into, max);
        }
        if (count == 0 && ring.isBroken()) {
            throw new VerbException(
                    "poll completion queue (ibv_poll_cq)",
                    Errno.EIO,
                    this + " overran; create it larger, or post less before polling");
        }
        return count;
    }

    @Override
    protected void doArm(boolean solicitedOnly) {
        ring.arm(solicitedOnly);
        if (links != null) {
            context.links().watch().armed();
        }
    }

    @Override
    protected void doAcknowledge(int events) {
        // Events hold nothing here.
    }

    @Override
    protected void doResize(int newCapacity) {
        try {
            if (!ring.resize(newCapacity)) {
                throw new VerbException(
                        "resize completion queue (ibv_resize_cq)",
                        Errno.EINVAL,
                        "more than " + newCapacity + " completions are in " + this + "; poll them first");
            }
        } catch (IOException e) {
            throw context.noSpace("resize completion queue (ibv_resize_cq)", newCapacity + " completions", e);
        }
    }

    @Override
    protected void doDestroy() {
        context.completionQueues().remove(number);
        if (channel != null) {
            channel.forget(this);
        }
        ring.free();
        LinkPolling made = links;
        if (made != null) {
            made.close();
        }
    }
}
