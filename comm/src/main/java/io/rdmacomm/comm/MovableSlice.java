package io.rdmacomm.comm;

import java.util.Objects;

/// A slice that a program moves before each operation, so that it does not need one slice for each part:
///
/// ```java
/// MovableSlice part = buffer.whole().movable();
/// channel.blocking().send(part.at(0, 5));
/// channel.blocking().send(part.at(100, 20));
/// ```
///
/// Only one thread at a time may use it. An operation uses the range that the slice has when the operation is
/// called. Moving the slice later changes nothing for operations that are in flight, queued, or in a
/// [ChannelBatch].
public final class MovableSlice extends BufferSlice {
    private long offset;
    private long length;

    /// @param within the slice within which it may move; if that one is movable too, its range at this moment
    MovableSlice(BufferSlice within) {
        super(within.buffer(), within.offset(), within.length());
        this.offset = within.offset();
        this.length = within.length();
    }

    /// Moves it. Never blocks, allocates nothing.
    ///
    /// @param from where the range begins, in bytes from the beginning of the slice that this one was made from
    /// @param size the length of the range in bytes
    /// @return this slice
    /// @throws IndexOutOfBoundsException if the range is not within the slice that this one was made from; then it
    ///         stays where it was
    public MovableSlice at(long from, long size) {
        Objects.checkFromIndexSize(from, size, super.length());
        offset = super.offset() + from;
        length = size;
        return this;
    }

    @Override
    public long offset() {
        return offset;
    }

    @Override
    public long length() {
        return length;
    }
}
