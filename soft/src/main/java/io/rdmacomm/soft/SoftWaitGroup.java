package io.rdmacomm.soft;

import io.rdmacomm.soft.transport.Engine;
import io.rdmacomm.verbs.spi.CompletionChannelDriver;
import io.rdmacomm.verbs.spi.WaitGroupDriver;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;

/// A queue of the completion channels that have events.
final class SoftWaitGroup implements WaitGroupDriver {
    /// A channel in this group.
    private final class Member implements SoftCompletionChannel.Observer {
        private final SoftCompletionChannel channel;
        /// Whether it is in the queue.
        private boolean queued;
        /// Whether it was removed; its channel may be about to inform it.
        private volatile boolean removed;

        private Member(SoftCompletionChannel channel) {
            this.channel = channel;
        }

        @Override
        public boolean isLed() {
            return waiting.isLed();
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
    private final LeadingWait waiting;
    /// By the handles of the channels.
    private final Map<Long, Member> members = new ConcurrentHashMap<>();
    private final ArrayDeque<Member> ready = new ArrayDeque<>();
    private boolean woken;
    private boolean closing;

    /// @param engine of the context
    /// @param device its name, for messages
    /// @param channels finds the channel behind a driver
    SoftWaitGroup(Engine engine, String device, Function<CompletionChannelDriver, SoftCompletionChannel> channels) {
        this.device = device;
        this.channels = channels;
        this.waiting = new LeadingWait(engine, lock, this::hasEnded);
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
            // It may stay in the queue; no lock, on which the threads that close connections would queue up.
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
    public long await(long timeoutNanos) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            long left = timeoutNanos;
            long found = next();
            while (found == 0 && left > 0 && !closing && !woken) {
                left = waiting.await(left);
                found = next();
            }
            woken = false;
            if (found != 0) {
                waiting.found();
            }
            return closing ? 0 : found;
        } finally {
            lock.unlock();
        }
    }

    /// The next channel with an event, which others may have taken since; 0 if there is none. It stays in the queue,
    /// behind the others, until it has none.
    private long next() {
        for (Member member = ready.poll(); member != null; member = ready.poll()) {
            member.queued = false;
            if (!member.removed && member.channel.hasEvent()) {
                queue(member);
                return member.channel.handle();
            }
        }
        return 0;
    }

    private boolean hasEnded() {
        lock.lock();
        try {
            return !ready.isEmpty() || closing || woken;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void wakeUp() {
        lock.lock();
        try {
            woken = true;
            waiting.wake();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void closing() {
        lock.lock();
        try {
            closing = true;
            waiting.wakeAll();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() {
        // Its members were removed before.
    }

    @Override
    public String toString() {
        return "wait group on " + device;
    }
}
