package io.rdmacomm.soft.transport;

import io.rdmacomm.soft.memory.LocalRegion;
import io.rdmacomm.verbs.AsyncEventType;
import io.rdmacomm.verbs.spi.SendRequest;
import org.jspecify.annotations.Nullable;

/// Carries the send requests of one queue pair to its peer, and for a peer on the network those of the peer to this
/// side. A queue pair gets its transport when it has found its peer, and keeps it until it is reset.
///
/// All methods except [#operationOfPeer] and [#isPeerIdle] are called with the queue pair's send lock held. A
/// transport never calls its queue pair: it reports to [Events], which only take notes, and the queue pair acts
/// when the transport has returned.
public interface Transport {
    /// Executes the requests from `first` to `end`, in order, or keeps them in the [RequestQueue].
    ///
    /// @return how many were taken
    int post(SendRequest[] requests, int first, int end);

    /// Continues with the requests in the [RequestQueue].
    void resume();

    /// Whether every request that was begun has ended.
    boolean isDrained();

    /// Whether everything that was posted has been carried out and, if the peer does that, acknowledged; and
    /// whether everything that the peer has sent was acknowledged to it.
    boolean isIdle();

    /// Whether the peer's queue pair has chosen this transport, too. Both must use the same, so a queue pair
    /// whose peer has not chosen shared memory takes a connection over TCP instead. Stays true once it is.
    boolean isAgreed();

    /// Whether it uses memory that this host's processes share.
    default boolean isOnHost() {
        return false;
    }

    /// Gives up the requests that were begun. The [RequestQueue] keeps them, to be flushed, and a receive
    /// that was taken for an incomplete message goes back to its [ReceiveQueue]. Nothing more is executed,
    /// and no memory is used, except by a peer that [#isPeerIdle] reports. Idempotent.
    ///
    /// @param orderly whether the peer's queue pair should not fail because of it
    void stop(boolean orderly);

    /// The operation on this side's memory that the peer is in the middle of, if it may use `region`, whose
    /// keys are no longer valid. Any thread, without the lock.
    ///
    /// @param region null for any memory
    /// @return null if there is none, as always if the peer does not use memory of this side itself: the default
    default @Nullable PeerOperation operationOfPeer(@Nullable LocalRegion region) {
        return null;
    }

    /// After [#stop], which waits for a limited time: whether the peer has finished the operation on this
    /// side's memory that it was in. Does not wait. Any thread, without the lock, even when the transport is
    /// closed.
    default boolean isPeerIdle() {
        return true;
    }

    /// Stops, and releases what it holds.
    void close();

    /// Notes from a transport to its queue pair. Implementations never call a transport.
    interface Events {
        /// A message of the peer has arrived, or requests have ended.
        void progressed();

        /// A request, the peer or the connection has failed: the queue pair goes to the error state.
        ///
        /// @param status what the oldest request in the [RequestQueue] fails with
        /// @param vendorError more about it, or 0
        /// @param event to be raised, [AsyncEventType#UNKNOWN] for none
        void failed(int status, int vendorError, AsyncEventType event);

        /// A request of an unreliable connection has failed on this side. The queue pair stops sending and goes on
        /// receiving, in SEND_QUEUE_ERROR (IBTA 10.3.1).
        ///
        /// @param status what the oldest request in the [RequestQueue] fails with
        void sendingFailed(int status);

        /// The peer has ended in an orderly way. The requests in the [RequestQueue] wait for another one with the
        /// same numbers, until their retries are exhausted.
        void peerGone();
    }
}
