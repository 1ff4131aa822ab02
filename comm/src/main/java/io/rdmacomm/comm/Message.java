package io.rdmacomm.comm;

import java.lang.foreign.MemorySegment;

/// A message that arrived, in the memory it was received into; or the notice of a WRITE that arrived.
///
/// It is a reusable view: its content is valid until it is given back, which happens when the handler
/// returns, or, if it was retained or received by a call, with [#close()]. Until then the peer has one
/// receive less. Messages are created once for each channel; receiving allocates nothing.
@SuppressWarnings("DoNotCallSuggester")
public final class Message implements AutoCloseable {
    Message() {}

    /// Whether this is the notice of a WRITE: it has a tag, a length, and no content here.
    public boolean isNotice() {
        throw Checks.unfinished();
    }

    /// Whether the peer gave a tag. Notices always have one.
    public boolean hasTag() {
        throw Checks.unfinished();
    }

    /// The peer's 32-bit tag; 0 if it gave none.
    public int tag() {
        throw Checks.unfinished();
    }

    /// The length of the message, or the number of bytes that were written.
    public long length() {
        throw Checks.unfinished();
    }

    /// The memory it is in: the message is its first [#length()] bytes. Allocates nothing.
    public MemorySegment block() {
        throw Checks.unfinished();
    }

    /// Its content. Allocates a view.
    public MemorySegment segment() {
        throw Checks.unfinished();
    }

    /// Its content as UTF-8 text. Allocates.
    public String text() {
        throw Checks.unfinished();
    }

    /// Keeps it beyond the end of the handler, until [#close()]. To be called in the handler.
    ///
    /// @return this
    public Message retain() {
        throw Checks.unfinished();
    }

    /// Gives it back, so that its memory is used for another message. Idempotent until then; from any
    /// thread.
    @Override
    public void close() {
        throw Checks.unfinished();
    }
}
