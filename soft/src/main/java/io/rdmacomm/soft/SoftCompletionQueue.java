package io.rdmacomm.soft;

import io.rdmacomm.soft.mapped.CompletionRing;
import io.rdmacomm.soft.transport.Arrivals;
import io.rdmacomm.soft.transport.ArrivedMessages;
import io.rdmacomm.soft.transport.CompletionSink;
import io.rdmacomm.soft.transport.OwnCompletions;
import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.service.OperationLock;
import io.rdmacomm.verbs.service.SafeLogger;
import io.rdmacomm.verbs.spi.CompletionQueueDriver;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// A completion queue consists of a ring on the heap, to which the queue pairs of this context push when their
/// requests complete, the [lines][ArrivedMessages] in which messages of this host arrive, and a ring in shared
/// memory for all other receives. With a single ring, each end of a connection would wait for cache lines that the
/// other one has just written.
final class SoftCompletionQueue implements CompletionQueueDriver, QueueBell.Ringing {
    private static final SafeLogger LOGGER = SafeLogger.of(SoftCompletionQueue.class);

    /// The most queue pairs that have lines.
    private static final int MOST_LINED = 16;

    private final SoftContext context;
    private final int number;
    private final @Nullable SoftCompletionChannel channel;
    private final CompletionRing ring;
    private final CompletionSink receives;
    private final OwnCompletions sends;
    /// Those of the queue pairs that have lines. Each poll looks at all of them, so there are few.
    private volatile ArrivedMessages[] lined = {};
    /// Held while messages are taken from lines. A poll that finds none does not take it.
    private final OperationLock linesLock = new OperationLock();

    private int firstLined;
    private final Arrivals arrivals;
    /// Odd while it is armed and was not announced since. The ring does not tell: producers disarm it first. A
    /// number, because one thread may announce while another arms again.
    private final AtomicLong awaiting = new AtomicLong();
    private boolean overrunReported;
    /// The number of completions from consecutive polls that never came to the ring.
    private long polledInARow;
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
                context.memory().control(), context.lid(), ring, this::announceIfDisarmed, this::overran, linesLock);
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

    /// Looks at the lines of a queue pair from now on.
    ///
    /// @return false if there are too many others
    boolean join(ArrivedMessages messages) {
        linesLock.lock();
        try {
            return joinExclusively(messages);
        } finally {
            linesLock.unlock();
        }
    }

    private boolean joinExclusively(ArrivedMessages messages) {
        if (Arrays.asList(lined).contains(messages)) {
            return true;
        }
        int inLines = messages.depth();
        for (ArrivedMessages each : lined) {
            inLines += each.depth();
        }
        if (lined.length == MOST_LINED || inLines > ring.capacity()) {
            // A queue that is too small overruns in the ring.
            return false;
        }
        ArrivedMessages[] more = Arrays.copyOf(lined, lined.length + 1);
        more[lined.length] = messages;
        lined = more;
        return true;
    }

    /// A queue pair is closed, and its messages are in the ring.
    void leave(ArrivedMessages messages) {
        receives.whileNotPolled(() -> lined =
                Arrays.stream(lined).filter(each -> !each.equals(messages)).toArray(ArrivedMessages[]::new));
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
        return sends.isEmpty() && ring.ready(1) == 0 && !hasMessages() && !arrivals.mayReceive() && !ring.isBroken();
    }

    private boolean hasMessages() {
        for (ArrivedMessages each : lined) {
            if (each.hasMessage()) {
                return true;
            }
        }
        return false;
    }

    /// Looks which messages are in lines.
    private boolean markMessages(int max) {
        boolean any = false;
        for (ArrivedMessages each : lined) {
            any |= each.mark(polledInARow == 0, max);
        }
        return any;
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

    /// Polls requests, then messages in lines, then the ring of the other receives. A receive must not come before
    /// a request that completed earlier: a queue pair that fails flushes its requests first. Nor may it come before
    /// messages that arrived earlier, because a queue pair that fails flushes its receives to the ring. So the ring
    /// is looked at first, then the lines, and only the receives that are there then are polled. A program that
    /// posts as fast as it polls still gets them: once it has polled as many requests as there is room for, those
    /// include all that came before.
    private int pollRings(MemorySegment into, int max) {
        int count = polledInARow < sends.capacity() ? 0 : pollOwed(into, max);
        if (count == max) {
            return count;
        }
        int ready = ring.ready(max - count);
        boolean messages = markMessages(max);
        if (polledInARow == 0) {
            receivesOwed = ready;
        }
        count = sends.poll(into, count, max);
        if (count < max && messages) {
            count = pollLines(into, count, max, false);
        }
        if (count == max) {
            polledInARow += count;
            return count;
        }
        polledInARow = 0;
        return ready == 0 ? count : ring.poll(into, count, Math.min(max, count + ready));
    }

    /// Polls the receives that were there before many requests.
    private int pollOwed(MemorySegment into, int max) {
        int messages = pollLines(into, 0, max, true);
        if (messages == max) {
            return messages;
        }
        int count = ring.poll(into, messages, Math.min(max, messages + receivesOwed));
        receivesOwed -= count - messages;
        if (count < max || receivesOwed == 0) {
            polledInARow = 0;
        }
        return count;
    }

    /// Polls the messages that were there when this looked last.
    ///
    /// @param owed only those that were there before many requests
    private int pollLines(MemorySegment into, int from, int max, boolean owed) {
        linesLock.lock();
        try {
            return pollLines(lined, into, from, max, owed);
        } finally {
            linesLock.unlock();
        }
    }

    private int pollLines(ArrivedMessages[] all, MemorySegment into, int from, int max, boolean owed) {
        int count = from;
        for (int i = 0; i < all.length && count < max; i++) {
            count = all[(firstLined + i) % all.length].poll(into, count, max, owed);
        }
        if (count == max && all.length > 1) {
            // The others come first the next time.
            firstLined = (firstLined + 1) % all.length;
        }
        return count;
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
            boolean fits = ring.fits(newCapacity, messagesWaiting()) && sends.fits(newCapacity);
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

    private long messagesWaiting() {
        long waiting = 0;
        for (ArrivedMessages each : lined) {
            waiting += each.waiting();
        }
        return waiting;
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
