package io.rdmacomm.comm;

import java.lang.foreign.MemorySegment;
import java.util.Objects;

/// A range of an [RdmaBuffer] that operations send from, write from and read into. Create it once and reuse it:
/// operations on it allocate nothing. Immutable.
public final class BufferSlice {
    private final RdmaBuffer buffer;
    private final long offset;
    private final long length;
    private final long address;

    BufferSlice(RdmaBuffer buffer, long offset, long length) {
        Objects.checkFromIndexSize(offset, length, buffer.length());
        this.buffer = buffer;
        this.offset = offset;
        this.length = length;
        this.address = buffer.address() + offset;
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
        return buffer.segment().asSlice(offset, length);
    }

    /// A part of it. Allocates the new slice.
    ///
    /// @throws IndexOutOfBoundsException if the part is not within it
    public BufferSlice slice(long from, long size) {
        Objects.checkFromIndexSize(from, size, length);
        return new BufferSlice(buffer, offset + from, size);
    }

    /// Its start address for the device.
    long address() {
        return address;
    }

    @Override
    public String toString() {
        return "[" + offset + ", " + (offset + length) + ") of " + buffer;
    }
}
