package io.rdmacomm.soft;

import io.rdmacomm.soft.memory.LocalRegion;
import io.rdmacomm.soft.transport.Endpoint;
import io.rdmacomm.soft.transport.IncomingDatagram;
import io.rdmacomm.soft.transport.PeerOperation;
import io.rdmacomm.verbs.AsyncEventType;
import io.rdmacomm.verbs.Gid;
import org.jspecify.annotations.Nullable;

/// A queue pair as its context sees it, whatever carries its requests.
interface ContextQueuePair {
    /// Its number.
    int number();

    /// How it gets a connection; null if it is for datagrams.
    default @Nullable Endpoint endpoint() {
        return null;
    }

    /// Where its datagrams go; null if it is connected.
    default IncomingDatagram.@Nullable Target datagrams() {
        return null;
    }

    /// Waits until this queue pair is not in the middle of an operation that began before; any thread, without its
    /// locks.
    void awaitExecutions();

    /// The operation that its peer is executing, if it may use `region`. Any thread, without its locks.
    ///
    /// @param region null for any memory
    /// @return null if there is nothing
    default @Nullable PeerOperation operationOfPeer(@Nullable LocalRegion region) {
        return null;
    }

    /// Whether its sends or receives complete in the completion queue with this number.
    boolean completesIn(int completionQueue);

    /// Fails the queue pair for a reason in this process, or because its peer asks for it; the engine.
    ///
    /// @param event the event to raise, [AsyncEventType#UNKNOWN] for none
    void failLocally(AsyncEventType event);

    /// A context of this host has connected to this one: it may be that of the peer; the engine.
    default void peerAppeared(Gid gid, int lid) {}
}
