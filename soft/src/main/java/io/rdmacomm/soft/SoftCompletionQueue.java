package io.rdmacomm.soft;

import io.rdmacomm.soft.mapped.CompletionRing;
import io.rdmacomm.soft.transport.Arrivals;
import io.rdmacomm.soft.transport.CompletionSink;
import io.rdmacomm.soft.transport.OwnCompletions;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.service.SafeLogger;
import io.rdmacomm.verbs.spi.CompletionQueueDriver;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// A completion queue consists of a ring in shared memory, to which peers push, and one on the heap, to which the
/// queue pairs of this context push when their requests complete. With a single ring, each end of a connection
/// would wait for cache lines that the other one has just written.
final class SoftCompletionQueue implements CompletionQueueDriver, QueueBell.Ringing {
    private static final SafeLogger LOGGER = SafeLogger.of(SoftCompletionQueue.class);

    private final SoftContext context;
    private final int number;
    private final @Nullable SoftCompletionChannel channel;
    private final CompletionRing ring;
    private final CompletionSink receives;
    private final OwnCompletions sends;
    private final Arrivals arrivals;
    /// Odd while it is armed and was not announced since. The ring does not tell: producers disarm it first. A
    /// number, because one thread may announce while another arms again.
    private final AtomicLong awaiting = new AtomicLong();
    private boolean overrunReported;
    /// The number of completions from consecutive polls that only own requests filled.
    private long requestsInARow;
    /// The number of receives that were ready before the first of these polls.
    private int receivesOwed;

    SoftCompletionQueue(SoftContext context, int capacity, @Nullable SoftCompletionChannel channel) {
        this.context = context;
        this.number = context.objects().nextNumber();
        this.channel = channel;
        try {
            this.ring = CompletionRing.create(context.control(), capacity, number, channel != null);
        } catch (IOException e) {
            throw context.noSpace("create completion queue (ibv_create_cq)", capacity + " completions", e);
        }
        this.arrivals = context.network().arrivals(ring);
        this.receives = new CompletionSink(
                context.memory().control(), context.lid(), ring, this::announceIfDisarmed, this::overran);
        this.sends =
                new OwnCompletions(capacity, ring.producer(context.lid()), this::announceIfDisarmed, this::overran);
        context.objects().add(number, this);
        if (channel != null) {
            channel.add(this);
        }
    }

    @Override
    public long handle() {
        return number;
    }

    /// The ring that peers push to.
    CompletionRing ring() {
        return ring;
    }

    @Override
    public Arrivals arrivals() {
        return arrivals;
    }

    /// The sink for the receives of this context. Peers complete them, too, and they must stay in order.
    CompletionSink receives() {
        return receives;
    }

    /// The queue for the requests of this context.
    OwnCompletions sends() {
        return sends;
    }

    /// A peer has reported that the queue overran; the engine.
    void overrunReported() {
        overrunReported = true;
    }

    /// Whether the queue overran without a report by a peer; the engine, when a peer has died.
    boolean isOverrunUnreported() {
        return !overrunReported && ring.isBroken();
    }

    private void overran() {
        context.engine().execute(() -> context.objects().onOverrun(number));
    }

    /// Wakes up waiting threads, because a producer may have died between its completion and the announcement.
    /// Waiters must expect to find nothing (ibv_get_cq_event(3)).
    void announceToWaiter() {
        if (channel != null) {
            channel.disarm(this);
        }
        announceIfDisarmed();
    }

    @Override
    public void disarm() {
        var _ = ring.disarm();
    }

    @Override
    public void announceIfDisarmed() {
        long armed = awaiting.get();
        if ((armed & 1) != 0 && !ring.isArmed() && awaiting.compareAndSet(armed, armed + 1)) {
            announce();
        }
    }

    /// Announces that the armed queue has a completion.
    void announce() {
        SoftCompletionChannel to = channel;
        if (to != null) {
            to.announce(this);
        }
    }

    @Override
    public int capacity() {
        return Math.min(ring.capacity(), sends.capacity());
    }

    @Override
    public int poll(MemorySegment into, int max) {
        int count = pollRings(into, max);
        if (count == 0 && arrivals.mayReceive() && receive()) {
            count = pollRings(into, max);
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
    public boolean isKnownEmpty() {
        return sends.isEmpty() && ring.ready(1) == 0 && !arrivals.mayReceive() && !ring.isBroken();
    }

    /// Receives from the network. If memory runs out, incoming data is read later; the completions are not
    /// affected.
    ///
    /// @return false if no data arrives this way
    private boolean receive() {
        try {
            return arrivals.receive();
        } catch (OutOfMemoryError | StackOverflowError e) {
            LOGGER.log(System.Logger.Level.WARNING, "incoming data is read later", e);
            return true;
        }
    }

    /// Polls both rings. A receive must not come before a request that completed earlier: a queue pair that fails
    /// flushes its requests first. So the receives are counted before the requests are polled, and only that many
    /// are polled afterwards. A program that posts as fast as it polls still gets its receives: once it has polled
    /// as many requests as the ring holds, those include all that completed before the counted receives.
    private int pollRings(MemorySegment into, int max) {
        int ready = ring.ready(max);
        if (requestsInARow == 0) {
            receivesOwed = ready;
        } else if (requestsInARow >= sends.capacity()) {
            requestsInARow = 0;
            return sends.poll(into, ring.poll(into, 0, Math.min(max, receivesOwed)), max);
        }
        int count = sends.poll(into, 0, max);
        if (count == max) {
            requestsInARow += count;
            return count;
        }
        requestsInARow = 0;
        return ready == 0 ? count : ring.poll(into, count, Math.min(max, count + ready));
    }

    @Override
    public void arm(boolean solicitedOnly) {
        QueueBell bell = channel == null ? null : channel.bell();
        boolean wasArmed = ring.arm(solicitedOnly, bell == null ? null : bell.bell());
        long before = countArming();
        if ((before & 1) != 0 && !wasArmed) {
            announce(); // The event of the last arming, of which this context has not heard yet.
        }
        // Who heard of a completion before `awaiting` was set has not announced it.
        announceIfDisarmed();
        if (channel != null && !Objects.equals(bell, channel.bell())) {
            announceToWaiter();
        }
        if (bell != null && !bell.isFedByNetwork() && arrivals.areFromNetwork()) {
            bell.networkFeeds();
        }
        if (channel == null || !channel.attends(this)) {
            arrivals.armed(channel != null && channel.isLed());
        }
    }

    /// Makes `awaiting` the next odd number.
    ///
    /// @return what it was
    private long countArming() {
        long before = awaiting.get();
        while (!awaiting.compareAndSet(before, (before | 1) + 2)) {
            before = awaiting.get();
        }
        return before;
    }

    @Override
    public void resize(int newCapacity) {
        try {
            boolean fits = ring.fits(newCapacity) && sends.fits(newCapacity);
            if (!fits || !ring.resize(newCapacity) || !sends.resize(newCapacity)) {
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
    public void close() {
        context.objects().remove(number);
        awaiting.set(0);
        if (channel != null) {
            channel.forget(this);
        }
        context.objects().pendingFrees().free(ring, ring::free);
        arrivals.close();
    }

    @Override
    public String toString() {
        return "completion queue of " + capacity() + " on " + context;
    }
}
