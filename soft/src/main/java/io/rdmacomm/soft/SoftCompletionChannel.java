package io.rdmacomm.soft;

import io.rdmacomm.soft.transport.Arrivals;
import io.rdmacomm.soft.transport.Engine;
import io.rdmacomm.verbs.spi.CompletionChannelDriver;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/// A queue of the completion queues that have an event.
final class SoftCompletionChannel implements CompletionChannelDriver, EventWait.Events {
    /// A wait group of the channel.
    interface Observer {
        /// The channel has an event; any thread, without the lock of the channel. Allocates nothing.
        void announce();

        /// Whether the last thread that waited for the group did the work of the engine.
        boolean isLed();

        /// The bell of the group.
        @Nullable
        QueueBell bell();

        /// The place where threads wait for the group, if it has one.
        Arrivals.@Nullable GroupPlace place();

        /// Whether the last thread that waited for the group slept there.
        boolean isAtPlace();
    }

    private final String device;
    private final int number;
    private final IntConsumer onClose;
    private final ReentrantLock lock = new ReentrantLock();
    private final EventWait waiting;
    private final ArrayDeque<QueueBell.Ringing> queues = new ArrayDeque<>();
    private final List<QueueBell.Ringing> users = new CopyOnWriteArrayList<>();
    /// Its wait groups; replaced as a whole.
    private volatile List<Observer> groups = List.of();
    private volatile QueueBell.@Nullable Ringing attended;
    private final Bells bells;
    private final @Nullable QueueBell own;
    private volatile @Nullable QueueBell bell;

    /// @param engine of the context
    /// @param bells of the context
    /// @param device its name, for messages
    /// @param onClose receives the number when the channel is closed
    SoftCompletionChannel(Engine engine, Bells bells, String device, int number, IntConsumer onClose) {
        this.bells = bells;
        this.own = bells.take();
        this.bell = own;
        this.waiting = new EventWait(engine, lock, this);
        this.device = device;
        this.number = number;
        this.onClose = onClose;
    }

    @Override
    public long handle() {
        return number;
    }

    /// Adds a completion queue that announces its events here.
    void add(QueueBell.Ringing queue) {
        lock.lock();
        try {
            users.add(queue);
            queue.arrivals().join(placeOf(groups));
            QueueBell now = bell;
            if (now != null) {
                now.add(queue);
            }
        } finally {
            lock.unlock();
        }
    }

    /// The bell that its queues are armed with, and at which threads wait for its events. It is that of its only
    /// wait group, or its own without a group. Null in several groups: then each event takes a message, because the
    /// thread that is interested may wait for any of them.
    @Override
    public @Nullable QueueBell bell() {
        return bell;
    }

    /// Changes the groups, and with them perhaps the bell.
    private void inform(List<Observer> informed) {
        QueueBell old = bell;
        QueueBell chosen = own;
        lock.lock();
        try {
            groups = informed;
            for (QueueBell.Ringing queue : users) {
                queue.arrivals().join(placeOf(informed));
            }
            chosen = informed.isEmpty()
                    ? own
                    : informed.size() == 1 ? informed.getFirst().bell() : null;
            if (Objects.equals(chosen, old)) {
                return;
            }
            if (chosen != null) {
                for (QueueBell.Ringing queue : users) {
                    chosen.add(queue);
                }
            }
            bell = chosen;
            for (QueueBell.Ringing queue : users) {
                if (old != null) {
                    old.remove(queue);
                }
                // It is armed with the old bell.
                queue.disarm();
            }
        } finally {
            lock.unlock();
        }
        waiting.bellChanged(old);
        // Waiters must expect to find nothing (ibv_get_cq_event(3)).
        for (QueueBell.Ringing queue : users) {
            queue.announceIfDisarmed();
        }
    }

    /// The place of the only group. With several groups, a thread that waits for any of them must see what arrives.
    private static Arrivals.@Nullable GroupPlace placeOf(List<Observer> all) {
        return all.size() == 1 ? all.getFirst().place() : null;
    }

    /// Disarms a queue, unless it is closed: its memory may belong to another object then.
    void disarm(QueueBell.Ringing queue) {
        lock.lock();
        try {
            if (users.contains(queue)) {
                queue.disarm();
            }
        } finally {
            lock.unlock();
        }
    }

    /// Whether the last thread that waited here, or for the only group of this channel, waited for incoming data of
    /// `queue`. The next one will most likely do the same.
    boolean attends(QueueBell.Ringing queue) {
        List<Observer> informed = groups;
        return queue.equals(attended)
                || (informed.size() == 1 && informed.getFirst().isAtPlace());
    }

    /// Whether the last thread that waited here, or for a group of this channel, did the work of the engine. The
    /// next one will most likely do the same.
    boolean isLed() {
        List<Observer> informed = groups;
        boolean led = waiting.isLed();
        for (int i = 0; i < informed.size() && !led; i++) {
            led = informed.get(i).isLed();
        }
        return led;
    }

    /// Announces that `queue` was armed and has a completion.
    void announce(QueueBell.Ringing queue) {
        lock.lock();
        try {
            queues.add(queue);
            waiting.announce();
        } finally {
            lock.unlock();
        }
        // Without the lock: a group takes that lock while it holds its own.
        List<Observer> informed = groups;
        for (int i = 0; i < informed.size(); i++) {
            informed.get(i).announce();
        }
    }

    /// Informs a group of each event from now on.
    synchronized void join(Observer group) {
        List<Observer> more = new ArrayList<>(groups);
        more.add(group);
        inform(List.copyOf(more));
    }

    /// Stops informing a group.
    synchronized void leave(Observer group) {
        List<Observer> fewer = new ArrayList<>(groups);
        removeAll(fewer, group);
        inform(List.copyOf(fewer));
    }

    /// Whether there is an event to take.
    boolean hasEvent() {
        lock.lock();
        try {
            return !queues.isEmpty();
        } finally {
            lock.unlock();
        }
    }

    /// Removes the events of `queue`, which is being closed.
    void forget(QueueBell.Ringing queue) {
        lock.lock();
        try {
            removeAll(users, queue);
            QueueBell now = bell;
            if (now != null) {
                now.remove(queue);
            }
            removeAll(queues, queue);
            attended = null;
        } finally {
            lock.unlock();
        }
    }

    /// Without a lambda, which the JVM would link here for the first time: closing must work where memory has run out.
    private static <T> void removeAll(Collection<T> all, T one) {
        boolean found = true;
        while (found) {
            found = all.remove(one);
        }
    }

    @Override
    public boolean hasNext() {
        return !queues.isEmpty();
    }

    @Override
    public long next() {
        QueueBell.Ringing queue = queues.poll();
        return queue == null ? 0 : queue.handle();
    }

    /// Null also if several completion queues use the channel.
    @Override
    public Arrivals.@Nullable Place place(boolean possible) {
        QueueBell.Ringing only = possible && users.size() == 1 ? users.getFirst() : null;
        Arrivals.Place place = only == null ? null : only.arrivals().place();
        attended = place == null ? null : only;
        return place;
    }

    @Override
    public long awaitEvent(long timeoutNanos) throws InterruptedException {
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
        onClose.accept(number);
        bells.giveBack(own);
    }

    @Override
    public String toString() {
        return "completion channel on " + device;
    }
}
