package io.rdmacomm.soft;

import io.rdmacomm.soft.transport.Arrivals;
import io.rdmacomm.soft.transport.Engine;
import io.rdmacomm.verbs.spi.CompletionChannelDriver;
import io.rdmacomm.verbs.spi.WaitGroupDriver;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// A queue of the completion channels that have events.
final class SoftWaitGroup implements WaitGroupDriver, EventWait.Events {
    /// A channel in this group.
    private final class Member implements SoftCompletionChannel.Observer {
        private final SoftCompletionChannel channel;
        /// Whether it is in the queue.
        private boolean queued;
        /// Whether it was removed. Its channel may still be about to inform it.
        private volatile boolean removed;

        private Member(SoftCompletionChannel channel) {
            this.channel = channel;
        }

        @Override
        public boolean isLed() {
            return waiting.isLed();
        }

        @Override
        public @Nullable QueueBell bell() {
            return bell;
        }

        @Override
        public Arrivals.@Nullable GroupPlace place() {
            return place;
        }

        @Override
        public boolean isAtPlace() {
            return atPlace;
        }

        @Override
        public void announce() {
            lock.lock();
            try {
                queue(this);
                waiting.announce();
            } finally {
                lock.unlock();
            }
        }
    }

    private final String device;
    private final Function<CompletionChannelDriver, SoftCompletionChannel> channels;
    private final ReentrantLock lock = new ReentrantLock();
    private final EventWait waiting;
    private final Bells bells;
    private final @Nullable QueueBell bell;
    private final Arrivals.@Nullable GroupPlace place;
    /// Whether the last thread that waited slept at the place.
    private volatile boolean atPlace;
    /// The members by the handles of their channels.
    private final Map<Long, Member> members = new ConcurrentHashMap<>();
    private final ArrayDeque<Member> ready = new ArrayDeque<>();

    /// @param engine of the context
    /// @param bells of the context
    /// @param place where its threads can sleep; null if the network has none
    /// @param device its name, for messages
    /// @param channels finds the channel behind a driver
    SoftWaitGroup(
            Engine engine,
            Bells bells,
            Arrivals.@Nullable GroupPlace place,
            String device,
            Function<CompletionChannelDriver, SoftCompletionChannel> channels) {
        this.device = device;
        this.channels = channels;
        this.bells = bells;
        this.place = place;
        this.bell = bells.take();
        this.waiting = new EventWait(engine, lock, this);
    }

    @Override
    public void add(CompletionChannelDriver driver) {
        SoftCompletionChannel channel = channels.apply(driver);
        Member member = new Member(channel);
        members.put(driver.handle(), member);
        channel.join(member);
        if (channel.hasEvent()) {
            member.announce();
        }
    }

    @Override
    public void remove(CompletionChannelDriver driver) {
        Member member = members.remove(driver.handle());
        if (member != null) {
            // The member may stay in the queue. No lock: threads that close connections would queue up for it.
            member.removed = true;
            member.channel.leave(member);
        }
    }

    private void queue(Member member) {
        if (!member.queued && !member.removed) {
            member.queued = true;
            ready.add(member);
        }
    }

    @Override
    public @Nullable QueueBell bell() {
        return bell;
    }

    @Override
    public boolean hasNext() {
        return !ready.isEmpty();
    }

    @Override
    public Arrivals.@Nullable Place place(boolean possible) {
        Arrivals.GroupPlace known = place;
        boolean used = possible && known != null && known.isUsed();
        atPlace = used;
        if (!used && known != null) {
            known.leave();
        }
        return used ? known : null;
    }

    @Override
    public void receive() {
        Arrivals.GroupPlace known = place;
        if (known != null && known.isUsed() && !hasEvent()) {
            known.receive();
        }
    }

    private boolean hasEvent() {
        lock.lock();
        try {
            return hasNext();
        } finally {
            lock.unlock();
        }
    }

    /// The next channel with an event, or 0. Other threads may have taken the event since. The channel stays in the
    /// queue, behind the others, until it has none.
    @Override
    public long next() {
        for (Member member = ready.poll(); member != null; member = ready.poll()) {
            member.queued = false;
            if (!member.removed && member.channel.hasEvent()) {
                queue(member);
                return member.channel.handle();
            }
        }
        return 0;
    }

    @Override
    public long await(long timeoutNanos) throws InterruptedException {
        return waiting.await(timeoutNanos);
    }

    @Override
    public void wakeUp() {
        waiting.wakeUp();
    }

    @Override
    public void closing() {
        waiting.closing();
    }

    @Override
    public void close() {
        // Its members are already removed.
        bells.giveBack(bell);
        Arrivals.GroupPlace known = place;
        if (known != null) {
            known.close();
        }
    }

    @Override
    public String toString() {
        return "wait group on " + device;
    }
}
