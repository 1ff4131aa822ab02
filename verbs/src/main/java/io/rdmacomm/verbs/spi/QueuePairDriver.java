package io.rdmacomm.verbs.spi;

import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.PlainRequest;
import io.rdmacomm.verbs.QueuePairAttributes;
import io.rdmacomm.verbs.QueuePairState;
import io.rdmacomm.verbs.QueueSizes;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// A queue pair ([io.rdmacomm.verbs.QueuePair]). Its sends are posted by one thread at a time, and so are its receives.
public interface QueuePairDriver extends Driver {
    /// Its number, 24 bits.
    int number();

    /// Its actual sizes, at least those requested.
    QueueSizes sizes();

    /// The most scatter/gather elements of a READ (`max_sge_rd`): by default as many as any send.
    default int readElements() {
        return sizes().sendElements();
    }

    /// Whether threads of the driver use the queue pair, so that posting must take its locks even if the user promises
    /// to use it single-threaded.
    default boolean hasThreads() {
        return false;
    }

    /// Executes a transition that the state table allows (ibv_modify_qp(3)), under both locks.
    ///
    /// @param from the current state
    /// @param to the new state
    /// @param change the attributes that the caller set
    /// @param effective all attributes set so far, including this change
    void modify(QueuePairState from, QueuePairState to, QueuePairAttributes change, QueuePairAttributes effective);

    /// Queries the queue pair (ibv_query_qp(3)), under the send lock. The default is for devices without this
    /// query.
    ///
    /// @param known the attributes that were set, the state and the sizes known to this process; the driver
    ///        replaces those that its device reports
    /// @return `known`
    default QueuePairAttributes query(QueuePairAttributes known) {
        return known;
    }

    /// Posts `count` checked requests that fit the queue (ibv_post_send(3)), given as plain values, under the send
    /// lock. Never blocks, never allocates. The default posts none.
    ///
    /// @return how many were posted. The rest is then posted in memory, so none of it may have had any effect;
    ///         after an exception no request may have had one
    default int postSends(SendRequest[] requests, int first, int count) {
        return 0;
    }

    /// Posts `count` checked requests that fit the queue (ibv_post_send(3)), in memory, under the send lock. Never
    /// blocks, never allocates.
    ///
    /// @return how many were posted
    /// @throws io.rdmacomm.verbs.WorkRequestException if a request was rejected; those before its index
    ///         were posted. After any other exception none was
    int postSends(RequestChain requests, int first, int count);

    /// Executes the first of `count` checked requests before it returns, without completions and slots of the
    /// queue, under the send lock. Never blocks, never allocates. Only drivers override it whose [#postSends] may
    /// finish a request before it returns.
    ///
    /// @return how many have succeeded. The next must be posted, because a request waits or the driver
    ///         cannot execute it now; then posting it has the same effect as if this had not been called. The
    ///         default returns 0
    default int executeAtOnce(PlainRequest[] requests, int count) {
        return 0;
    }

    /// Maps memory of the peer into this process ([io.rdmacomm.verbs.QueuePair#directView]), under the send lock. May
    /// block for as long as the system needs to map a file. The default is for devices that cannot.
    ///
    /// @param length at least 1
    /// @param arena ends the mapping
    /// @return null if the peer is not on this host, or does not allow it
    default @Nullable MemorySegment directView(long address, long length, int key, Arena arena) {
        return null;
    }

    /// Posts `count` checked receives that fit the queue (ibv_post_recv(3)), under the receive lock. Never
    /// blocks, never allocates.
    ///
    /// @return how many were posted; after an exception none was
    int postReceives(RequestChain receives, int first, int count);

    /// Binds a memory window of type 1 (ibv_bind_mw(3)), under the send lock. The queue has room for the request.
    ///
    /// @param address the address of the window, as in scatter/gather elements
    /// @param length the length in bytes, within the region; 0 to unbind it
    /// @param access the bits of [io.rdmacomm.verbs.AccessFlag]
    /// @param flags the flags of [SendRequestLayout]
    default void bind(
            long workId,
            MemoryWindowDriver window,
            MemoryRegionDriver region,
            long address,
            long length,
            int access,
            int flags) {
        throw Unsupported.verb(this, "bind memory window (ibv_bind_mw)", Capability.MEMORY_WINDOW_TYPE_1);
    }

    /// Attaches to a multicast group (ibv_attach_mcast(3)), under the send lock.
    default void attach(Gid group, int lid) {
        throw Unsupported.verb(this, "attach queue pair to multicast group (ibv_attach_mcast)", Capability.MULTICAST);
    }

    /// Detaches from a multicast group (ibv_detach_mcast(3)), under the send lock. All are detached before [#close()].
    default void detach(Gid group, int lid) {
        throw Unsupported.verb(this, "detach queue pair from multicast group (ibv_detach_mcast)", Capability.MULTICAST);
    }

    /// A failed completion of the queue pair was polled; for a driver whose device does not report that the queue pair
    /// entered the error state. Called by the polling thread.
    default void failurePolled(long workId) {}

    /// The completion of a memory window binding was polled. Called by the polling thread.
    default void bindingPolled(long workId) {}

    /// Destroys the queue pair (ibv_destroy_qp(3)), under both locks.
    @Override
    void close();
}
