package io.rdmacomm.soft.transport;

import io.rdmacomm.soft.memory.LocalRegion;
import io.rdmacomm.verbs.AsyncEventType;
import io.rdmacomm.verbs.PlainRequest;
import io.rdmacomm.verbs.spi.SendRequest;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// Carries the send requests of one queue pair to its peer, and in the case of a peer on the network also the
/// peer's requests to this side. A queue pair gets its transport once it has found its peer, and keeps it until it
/// is reset.
///
/// All methods except [#operationOfPeer] and [#isPeerIdle] require the queue pair's send lock. A transport never
/// calls its queue pair: it reports to [Events], which only take notes, and the queue pair acts on them when the
/// transport has returned.
public interface Transport {
    /// Executes the requests from `first` to `end`, in order, or keeps them in the [RequestQueue].
    ///
    /// @return how many were taken
    int post(SendRequest[] requests, int first, int end);

    /// Executes requests before it returns, if none waits; see
    /// [io.rdmacomm.verbs.spi.QueuePairDriver#executeAtOnce]. The default is for peers that have to answer.
    default int executeAtOnce(PlainRequest[] requests, int count) {
        return 0;
    }

    /// Maps memory of the peer; see [io.rdmacomm.verbs.spi.QueuePairDriver#directView]. The default is for peers on
    /// other hosts.
    ///
    /// @throws IOException if the system cannot map it
    default @Nullable MemorySegment directView(long address, long length, int key, Arena arena) throws IOException {
        return null;
    }

    /// Continues with the requests in the [RequestQueue].
    void resume();

    /// Whether no request is in flight.
    boolean isDrained();

    /// Whether all posted requests are executed and, if the peer acknowledges, acknowledged, and all the peer's
    /// requests are acknowledged to it.
    boolean isIdle();

    /// Whether the peer's queue pair has chosen this transport, too. Both must use the same one, so a queue pair
    /// whose peer has not chosen shared memory accepts a TCP connection instead. Once true, stays true.
    boolean isAgreed();

    /// Whether it uses memory that this host's processes share.
    default boolean isOnHost() {
        return false;
    }

    /// Gives up the requests in flight. The [RequestQueue] keeps them, to be flushed, and a receive that was taken
    /// for an incomplete message goes back to its [ReceiveQueue]. Nothing more is executed, and no memory is used,
    /// except by a peer that [#isPeerIdle] reports. Idempotent.
    ///
    /// @param orderly whether the peer's queue pair should see a disconnect rather than a failure
    void stop(boolean orderly);

    /// The peer's operation in progress on this side's memory, if it may use `region`, whose keys are no longer
    /// valid. Any thread, without the lock.
    ///
    /// @param region null for any memory
    /// @return null if there is none; the default, for peers that never access memory of this side themselves
    default @Nullable PeerOperation operationOfPeer(@Nullable LocalRegion region) {
        return null;
    }

    /// After [#stop], which waits for a limited time: whether the peer has finished its operation on this side's
    /// memory. Does not wait. Any thread, without the lock, even on a closed transport.
    default boolean isPeerIdle() {
        return true;
    }

    /// Stops the transport, and releases what it holds.
    void close();

    /// Notes from a transport to its queue pair. Implementations never call a transport.
    interface Events {
        /// A message of the peer has arrived, or requests have ended.
        void progressed();

        /// A request, the peer or the connection has failed: the queue pair goes to the error state.
        ///
        /// @param status what the oldest request in the [RequestQueue] fails with
        /// @param vendorError details, or 0
        /// @param event to raise, [AsyncEventType#UNKNOWN] for none
        void failed(int status, int vendorError, AsyncEventType event);

        /// A request of an unreliable connection has failed on this side. The queue pair stops sending but still
        /// receives, in SEND_QUEUE_ERROR (IBTA 10.3.1).
        ///
        /// @param status what the oldest request in the [RequestQueue] fails with
        void sendingFailed(int status);

        /// The peer has ended in an orderly way. The requests in the [RequestQueue] wait for a new peer with the
        /// same numbers, until their retries are exhausted.
        void peerGone();
    }
}
