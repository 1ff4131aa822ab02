package io.rdmacomm.comm;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.Objects;

/// A range of an [RdmaBuffer] that operations send from, write from and read into. Create it once and reuse it:
/// operations on it allocate nothing. Immutable, except [MovableSlice].
public sealed class BufferSlice permits MovableSlice {
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    private final RdmaBuffer buffer;
    private final long offset;
    private final long length;

    BufferSlice(RdmaBuffer buffer, long offset, long length) {
        Objects.checkFromIndexSize(offset, length, buffer.length());
        this.buffer = buffer;
        this.offset = offset;
        this.length = length;
    }

    /// The buffer that contains it.
    public RdmaBuffer buffer() {
        return buffer;
    }

    /// Its offset in the buffer, in bytes.
    public long offset() {
        return offset;
    }

    /// Its length in bytes.
    public long length() {
        return length;
    }

    /// Its memory, as a newly allocated view.
    public MemorySegment segment() {
        return buffer.segment().asSlice(offset(), length());
    }

    /// A part of it, which stays where it is. Allocates the new slice.
    ///
    /// @throws IndexOutOfBoundsException if the part is not within it
    public BufferSlice slice(long from, long size) {
        Objects.checkFromIndexSize(from, size, length());
        return new BufferSlice(buffer, offset() + from, size);
    }

    /// A slice that a program can move within this one, so that operations on parts of different lengths need no
    /// new slices. It starts with the range of this one. Allocates the new slice.
    public MovableSlice movable() {
        return new MovableSlice(this);
    }

    /// The 8 bytes at `at`, in the byte order of this machine. Use it in a loop that watches memory that a peer
    /// writes: each call reads memory again, and later reads see data that is at least as new. The device must
    /// write the memory in order; see [io.rdmacomm.verbs.AccessFlag#RELAXED_ORDERING]. Allocates nothing.
    ///
    /// @param at the offset in this slice; the address must be a multiple of 8
    /// @throws IndexOutOfBoundsException if the 8 bytes are not within it
    /// @throws IllegalArgumentException if the address is not a multiple of 8
    /// @throws IllegalStateException if the buffer is closed
    public long getAcquire(long at) {
        Objects.checkFromIndexSize(at, Long.BYTES, length());
        return (long) LONG.getAcquire(buffer.segment(), offset() + at);
    }

    /// Its start address for the device.
    long address() {
        return buffer.address() + offset();
    }

    @Override
    public String toString() {
        return "[" + offset() + ", " + (offset() + length()) + ") of " + buffer;
    }
}
