package io.rdmacomm.comm;

import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.Context;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Set;

/// What servers and clients have in common: an open device, buffers registered with it once, and end
/// points. Usable from any thread.
@SuppressWarnings("DoNotCallSuggester")
public abstract sealed class Session implements AutoCloseable permits ServerSession, ClientSession {
    Session() {}

    /// What it was made with; the port of a server is the one it listens on.
    public final SessionOptions options() {
        throw Checks.unfinished();
    }

    /// What peers are told about who this is.
    public final String name() {
        throw Checks.unfinished();
    }

    /// The open device, for what this layer does not offer. It is closed with the session.
    public final Context context() {
        throw Checks.unfinished();
    }

    /// The end points that are not closed, oldest first.
    public final List<EndPoint> endPoints() {
        throw Checks.unfinished();
    }

    /// Allocates zeroed, page-aligned memory for `blockCount` blocks and registers it with the rights of
    /// [SessionOptions#access()].
    ///
    /// @param blockSize the length of a block in bytes, at least 1
    /// @throws IllegalArgumentException if an open buffer has that name, or a number is less than 1
    /// @throws io.rdmacomm.verbs.RdmaException if there is no room; the message says what to raise
    /// @throws ClosedException if the session is closed
    public final RdmaBuffer allocate(String name, long blockSize, int blockCount) {
        return allocate(name, blockSize, blockCount, options().access());
    }

    /// Allocates memory with rights of its own; see [#allocate(String, long, int)].
    ///
    /// @param access what may be done to it besides local reading
    public final RdmaBuffer allocate(String name, long blockSize, int blockCount, Set<AccessFlag> access) {
        throw Checks.unfinished();
    }

    /// Registers the caller's memory as a buffer of one block. The caller frees it after closing the
    /// buffer.
    ///
    /// @param segment native memory, not of a confined arena, at least 1 byte
    /// @param access what may be done to it besides local reading
    /// @throws IllegalArgumentException if an open buffer has that name, or the segment is of the wrong
    ///         kind
    /// @throws io.rdmacomm.verbs.RdmaException if the device cannot register it; the message says what to
    ///         raise
    /// @throws ClosedException if the session is closed
    public final RdmaBuffer wrap(String name, MemorySegment segment, Set<AccessFlag> access) {
        throw Checks.unfinished();
    }

    /// Makes progress on all data channels of this session: in thread mode CALLER this is what runs
    /// handlers; in the others library threads do it, and this returns 0. Never blocks, never allocates.
    /// Called in a handler, or while another thread polls, it returns 0.
    ///
    /// @return how many completions there were
    public final int poll() {
        throw Checks.unfinished();
    }

    /// Exceptions that handlers and listeners of this session threw.
    public final long handlerErrors() {
        throw Checks.unfinished();
    }

    /// Whether [#close()] was not called.
    public final boolean isOpen() {
        throw Checks.unfinished();
    }

    /// Ends every wait, closes all end points (together, each within the close deadline), and frees
    /// everything. Idempotent. Blocks until it is done.
    @Override
    public final void close() {
        throw Checks.unfinished();
    }
}
