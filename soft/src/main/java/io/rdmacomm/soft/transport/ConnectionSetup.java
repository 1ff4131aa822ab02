package io.rdmacomm.soft.transport;

import io.rdmacomm.verbs.SendOpcode;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Sets up a transport that needs more than the numbers of the peer: a connection that one side opens and the other
/// one accepts. Under the queue pair's send lock.
public interface ConnectionSetup {
    /// The numbers of the peer are enough.
    ConnectionSetup NONE = new ConnectionSetup() {};

    /// The queue pair, as its connection setup sees it.
    interface Owner {
        /// Whether it is between READY_TO_RECEIVE and SEND_QUEUE_DRAIN.
        boolean isConnected();

        /// The present transport, or null.
        @Nullable
        Transport transport();

        /// Takes a transport, and ends the one that it has.
        ///
        /// @param missing the requests that the peer does not understand
        /// @param why the reason
        void begin(Transport transport, Set<SendOpcode> missing, String why);
    }

    /// The queue pair begins to look for its peer.
    default void begin() {}

    /// Calls the peer, unless a call is in progress, or was tried just now.
    default void call() {}

    /// Whether the peer's host has taken a call that the peer is likely to answer soon.
    default boolean isReached() {
        return false;
    }

    /// Whether a connection manager hands the connection over.
    default boolean isExpecting() {
        return false;
    }

    /// Whether the peer of the present connection called before this side knew the number of its own first packet,
    /// and expects a different one.
    default boolean isMistaken() {
        return false;
    }

    /// The queue pair has stopped.
    ///
    /// @param orderly whether the peer's queue pair should see a disconnect rather than a failure
    default void stopped(boolean orderly) {}

    /// The transport has ended, and the peer may be called again.
    default void ended() {}

    /// The queue pair is no longer connected: gives up a call that is in progress.
    default void forget() {}
}
