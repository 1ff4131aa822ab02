package io.rdmacomm.verbs.spi;

/// A wait group ([io.rdmacomm.verbs.WaitGroup]). Thread-safe, except that calls of [#add] and [#remove] for one
/// channel do not overlap.
public interface WaitGroupDriver extends Driver {
    /// Adds an open channel that is not a member.
    void add(CompletionChannelDriver channel);

    /// Removes a channel, before it is closed; does nothing if it is not a member.
    void remove(CompletionChannelDriver channel);

    /// Waits until a member has an event that [CompletionChannelDriver#awaitEvent] would return. Members with events
    /// take turns. Suits virtual threads. [#closing()] ends the wait.
    ///
    /// @param timeoutNanos zero to poll
    /// @return the handle of the channel; 0 after the timeout, a wake-up, and when the group is closing
    long await(long timeoutNanos) throws InterruptedException;

    /// Ends the current wait, or the next one if no thread waits. Never blocks.
    void wakeUp();
}
