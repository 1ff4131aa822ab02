package io.rdmacomm.soft;

import io.rdmacomm.soft.memory.LocalRegion;
import io.rdmacomm.soft.transport.ConnectionSetup;
import io.rdmacomm.soft.transport.IncomingDatagram;
import io.rdmacomm.soft.transport.PeerOperation;
import io.rdmacomm.verbs.AsyncEventType;
import io.rdmacomm.verbs.Gid;
import org.jspecify.annotations.Nullable;

/// A queue pair as its context sees it, with any transport.
interface ContextQueuePair {
    /// Its number.
    int number();

    /// Sets up its connection; null if it is for datagrams.
    default @Nullable ConnectionSetup setup() {
        return null;
    }

    /// The receiver of its datagrams; null if it is connected.
    default IncomingDatagram.@Nullable Target datagrams() {
        return null;
    }

    /// Waits until this queue pair has finished earlier operations in progress; any thread, without its locks.
    void awaitExecutions();

    /// The operation that its peer is executing, if it may use `region`. Any thread, without its locks.
    ///
    /// @param region null for any memory
    /// @return null if there is none
    default @Nullable PeerOperation operationOfPeer(@Nullable LocalRegion region) {
        return null;
    }

    /// Whether a poll may still move the payload of a message to a region. Any thread, without its locks.
    default boolean mayPlaceInto(LocalRegion region) {
        return false;
    }

    /// From its next operation on, the peer writes to the memory of the receives that are posted now, and leaves no
    /// payload to a poll. Any thread, without its locks.
    default void endPlainReceives() {}

    /// Moves payloads of messages that were not polled to a region. Any thread, without its locks.
    default void placeInto(LocalRegion region) {}

    /// Whether its sends or receives complete in the completion queue with this number.
    boolean completesIn(int completionQueue);

    /// Fails the queue pair for a reason in this process, or because its peer requests it; the engine.
    ///
    /// @param event the event to raise, [AsyncEventType#UNKNOWN] for none
    void failLocally(AsyncEventType event);

    /// A context of this host has connected to this one: it may be that of the peer; the engine.
    default void peerAppeared(Gid gid, int lid) {}
}
