package io.rdmacomm.soft;

import io.rdmacomm.soft.mapped.CompletionRing;
import io.rdmacomm.soft.tcp.PolledLinks;
import io.rdmacomm.soft.transport.CompletionSink;
import io.rdmacomm.verbs.CompletionChannel;
import io.rdmacomm.verbs.CompletionQueue;
import io.rdmacomm.verbs.CompletionQueueOptions;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.VerbException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// A completion queue is a ring in shared memory to which own queue pairs and peers push.
final class SoftCompletionQueue extends CompletionQueue {
    private final SoftContext context;
    private final int number;
    private final @Nullable SoftCompletionChannel channel;
    private final CompletionRing ring;
    private final CompletionSink sink;
    private volatile @Nullable PolledLinks links;
    /// Armed and not announced since. The ring does not say that: producers take the arming back before they tell.
    private volatile boolean awaiting;
    private boolean overrunTold;

    SoftCompletionQueue(SoftContext context, CompletionQueueOptions options) {
        super(context, options);
        this.context = context;
        this.number = context.objects().nextNumber();
        CompletionChannel where = options.channel();
        this.channel = (SoftCompletionChannel) where;
        try {
            this.ring = CompletionRing.create(context.control(), options.capacity(), number, channel != null);
        } catch (IOException e) {
            throw context.noSpace("create completion queue (ibv_create_cq)", options.capacity() + " completions", e);
        }
        this.sink = new CompletionSink(context.memory().control(), context.lid(), ring, this::announce, this::overran);
        context.objects().add(number, this);
    }

    CompletionRing ring() {
        return ring;
    }

    /// The TCP links whose requests complete here.
    PolledLinks links() {
        PolledLinks known = links;
        return known == null ? makeLinks() : known;
    }

    private synchronized PolledLinks makeLinks() {
        PolledLinks made = links;
        if (made == null) {
            made = new PolledLinks(ring);
            links = made;
        }
        return made;
    }

    /// Where queue pairs of this context push their completions.
    CompletionSink sink() {
        return sink;
    }

    /// Somebody has told that it overran; the engine.
    void overrunTold() {
        overrunTold = true;
    }

    /// Whether it overran and nobody has told; the engine, when a peer has died.
    boolean isOverrunUntold() {
        return !overrunTold && ring.isBroken();
    }

    private void overran() {
        context.engine().execute(() -> context.objects().onOverrun(number));
    }

    /// Wakes up who waits for an event, because a producer may have died between its completion and the telling.
    /// A waiter has to expect that it finds nothing (ibv_get_cq_event(3)).
    void announceToWaiter() {
        boolean armed = ring.disarm();
        if (armed || awaiting) {
            announce();
        }
    }

    /// It was armed and has a completion.
    void announce() {
        awaiting = false;
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
        PolledLinks polled = links;
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
        awaiting = true;
        ring.arm(solicitedOnly);
        if (links != null) {
            context.tcp().armed();
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
        context.objects().remove(number);
        if (channel != null) {
            channel.forget(this);
        }
        context.objects().quarantine().free(ring, ring::free);
        PolledLinks made = links;
        if (made != null) {
            made.close();
        }
    }
}
