package io.rdmacomm.soft;

import io.rdmacomm.verbs.AsyncEventType;
import io.rdmacomm.verbs.Gid;

/// A queue pair as its context sees it, whatever carries its requests.
interface ContextQueuePair {
    /// Waits until neither this queue pair nor its peer is in the middle of an operation that began before; any
    /// thread, without its locks.
    ///
    /// @return false if the peer still is, after a long time
    boolean awaitExecutions();

    /// Whether its sends or receives complete there.
    boolean completesIn(SoftCompletionQueue queue);

    /// Fails the queue pair for a reason of its own process or because its peer says so; the engine.
    ///
    /// @param event the event to raise, [AsyncEventType#UNKNOWN] for none
    void failLocally(AsyncEventType event);

    /// A context of this host has connected to this one: it may be that of the peer; the engine.
    default void peerAppeared(Gid gid, int lid) {}
}
