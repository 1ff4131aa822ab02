package io.rdmacomm.comm;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The connection to one peer: a control channel of the library's own, and any number of data channels.
/// Usable from any thread.
///
/// The failure of a queue pair or the death of the peer ends this end point and no other: everything in
/// flight is flushed, and what is tried afterwards throws a [ClosedException] whose cause says why.
@SuppressWarnings("DoNotCallSuggester")
public final class EndPoint implements AutoCloseable {
    EndPoint() {}

    /// What it is called in messages: both names and the peer's address.
    public String name() {
        throw Checks.unfinished();
    }

    /// What the peer says about who it is.
    public String peerName() {
        throw Checks.unfinished();
    }

    /// The peer's TCP address and port as text.
    public String peerAddress() {
        throw Checks.unfinished();
    }

    /// The data channels.
    public List<RdmaChannel> channels() {
        throw Checks.unfinished();
    }

    /// Data channel `index`, counted from 0.
    ///
    /// @throws IndexOutOfBoundsException if there is no such channel
    public RdmaChannel channel(int index) {
        throw Checks.unfinished();
    }

    /// Makes a buffer known to the peer, which finds it with [#peerBuffer]. Blocks until the peer has it.
    ///
    /// @throws IllegalArgumentException if the buffer is of another session, is closed, or another one was
    ///         announced under that name
    /// @throws DeadlineException if that took longer than the operation deadline
    /// @throws ClosedException if the end point is closed or has failed
    /// @throws CommInterruptedException if the thread was interrupted
    public void announce(RdmaBuffer buffer) {
        throw Checks.unfinished();
    }

    /// The buffer that the peer announced under `name`, or null if it has not announced it. Never blocks.
    public @Nullable RemoteBuffer peerBuffer(String name) {
        throw Checks.unfinished();
    }

    /// Waits until the peer has announced a buffer under `name`. Blocks.
    ///
    /// @param timeout how long to wait at the most
    /// @throws DeadlineException if it was not announced in time
    /// @throws ClosedException if the end point is or gets closed, has or gets failed
    /// @throws CommInterruptedException if the thread was interrupted
    public RemoteBuffer peerBuffer(String name, Duration timeout) {
        throw Checks.unfinished();
    }

    /// What the peer has announced, by name.
    public Map<String, RemoteBuffer> peerBuffers() {
        throw Checks.unfinished();
    }

    /// Waits until the peer has called this as often as this side has: what either side did before is done.
    /// Blocks.
    ///
    /// @param timeout how long to wait at the most
    /// @throws DeadlineException if the peer did not call it in time
    /// @throws ClosedException if the end point is or gets closed, has or gets failed
    /// @throws CommInterruptedException if the thread was interrupted
    public void barrier(Duration timeout) {
        throw Checks.unfinished();
    }

    /// What it is doing.
    public EndPointState state() {
        throw Checks.unfinished();
    }

    /// Why it failed; null if it has not.
    public @Nullable CommException failure() {
        throw Checks.unfinished();
    }

    /// Waits until the peer is done: it has closed its side in order, or died. Blocks.
    ///
    /// @param timeout how long to wait at the most
    /// @return whether it is; [#state()] and [#failure()] say how
    /// @throws CommInterruptedException if the thread was interrupted
    public boolean awaitPeerDone(Duration timeout) {
        throw Checks.unfinished();
    }

    /// Closes in order: takes no more operations, waits until those in flight have ended, tells the peer
    /// that this side is done and waits until it has answered, then frees everything. If the peer is dead
    /// or does not answer within the close deadline, what is in flight is flushed. Idempotent. Blocks;
    /// called in a handler it returns at once and the end point is closed by another thread.
    @Override
    public void close() {
        throw Checks.unfinished();
    }
}
