package io.rdmacomm.soft.transport;

import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// Incoming data from the network for the queue pairs of one completion queue. A thread that polls the queue and
/// finds no completion receives it.
public interface Arrivals extends AutoCloseable {
    /// A place where a thread can sleep until data arrives.
    interface Place {
        /// Sleeps until data arrives, and receives it. Returns at once while another thread sleeps here.
        ///
        /// @param millis the longest time, more than 0
        /// @param ended whether there is nothing left to wait for; called before the thread sleeps
        void await(long millis, BooleanSupplier ended);

        /// Wakes a thread from [#await] whose wait is over; any thread.
        void wakeUp();
    }

    /// The place for all completion queues whose channels are in one wait group.
    interface GroupPlace extends Place, AutoCloseable {
        /// Whether data of any of the queues arrives here.
        boolean isUsed();

        /// Receives what has arrived; the thread that waits for the group. Does not wait.
        void receive();

        /// A thread is about to wait for the group elsewhere.
        void leave();

        /// The group is closed.
        @Override
        void close();
    }

    /// Whether any data may come from the network. The first may come later, but before the queue is armed for it.
    boolean areFromNetwork();

    /// Whether [#receive] may find something now. While a thread waits for a group, or has done so a moment ago, data
    /// arrives at the place of the group.
    default boolean mayReceive() {
        return areFromNetwork();
    }

    /// From now on data arrives at the place of a wait group.
    ///
    /// @param place null if it does not any more
    default void join(@Nullable GroupPlace place) {}

    /// Receives what has arrived; the thread that polls.
    ///
    /// @return false if nothing can have arrived
    boolean receive();

    /// The completion queue was armed, so its polling thread is about to sleep, and not at [#place].
    ///
    /// @param leads whether that thread will most likely do the work of the engine
    void armed(boolean leads);

    /// The place where a thread can sleep instead of waiting for the engine; null if there is none now.
    default @Nullable Place place() {
        return null;
    }

    /// The completion queue is closed.
    @Override
    void close();
}
