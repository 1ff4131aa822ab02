package io.rdmacomm.verbs.spi;

/// A completion channel ([io.rdmacomm.verbs.CompletionChannel]). Thread-safe.
public interface CompletionChannelDriver extends Driver {
    /// The number by which the provider finds it: the address of the C struct if there is one.
    long handle();

    /// Waits until an armed completion queue has a completion (ibv_get_cq_event(3)). Suits virtual threads.
    /// [#closing()] ends the wait.
    ///
    /// @param timeoutNanos zero to poll
    /// @return the handle of the completion queue; 0 after the timeout, a wake-up, and when the channel is closing
    long awaitEvent(long timeoutNanos) throws InterruptedException;

    /// Ends the current wait, or the next one if no thread waits. Never blocks.
    void wakeUp();
}
