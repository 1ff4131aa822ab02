package io.rdmacomm.soft.transport;

import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// What arrives from the network for the queue pairs of one completion queue. The thread that polls the queue and finds
/// no completion receives it.
public interface Arrivals extends AutoCloseable {
    /// Where a thread can sleep until something arrives.
    interface Place {
        /// Sleeps until something arrives, and receives it. Returns at once while another thread sleeps here.
        ///
        /// @param millis the longest time, more than 0
        /// @param ended whether there is nothing to wait for any more; called before the thread sleeps
        void await(long millis, BooleanSupplier ended);

        /// Ends [#await] of a thread whose wait has ended; any thread.
        void wakeUp();
    }

    /// Receives; the thread that polls.
    ///
    /// @return false if nothing can have arrived
    boolean receive();

    /// The completion queue was armed, so its polling thread is about to sleep, and not at [#place].
    ///
    /// @param leads whether that thread most likely does the work of the engine then
    void armed(boolean leads);

    /// Where a thread can sleep instead of waiting for the engine; null if there is no such place now.
    default @Nullable Place place() {
        return null;
    }

    /// The completion queue is closed.
    @Override
    void close();
}
