package io.rdmacomm.mesh.collective;

import io.rdmacomm.comm.BufferSlice;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// The memory that a collective reads or writes, as numbers of one type: an array, a segment, or a part of a
/// [MeshBuffer]. Data of a [MeshBuffer] is not copied on its way; other data passes through registered memory.
/// Create it once and reuse it: a collective on it allocates next to nothing. Immutable.
public final class Elements {
    private final MemorySegment segment;
    private final ElementType type;
    private final @Nullable MeshBuffer buffer;
    private final long offset;

    private Elements(MemorySegment segment, ElementType type, @Nullable MeshBuffer buffer, long offset) {
        if (segment.byteSize() % type.bytes() != 0) {
            throw new IllegalArgumentException(segment.byteSize() + " bytes are not a multiple of the " + type.bytes()
                    + " bytes of an element of type " + type);
        }
        this.segment = segment;
        this.type = type;
        this.buffer = buffer;
        this.offset = offset;
    }

    /// All elements of an array.
    public static Elements of(int[] array) {
        return of(MemorySegment.ofArray(array), ElementType.INT);
    }

    /// All elements of an array.
    public static Elements of(long[] array) {
        return of(MemorySegment.ofArray(array), ElementType.LONG);
    }

    /// All elements of an array.
    public static Elements of(float[] array) {
        return of(MemorySegment.ofArray(array), ElementType.FLOAT);
    }

    /// All elements of an array.
    public static Elements of(double[] array) {
        return of(MemorySegment.ofArray(array), ElementType.DOUBLE);
    }

    /// All elements of an array.
    public static Elements of(byte[] array) {
        return of(MemorySegment.ofArray(array), ElementType.BYTE);
    }

    /// All of a segment, on the heap or native.
    ///
    /// @throws IllegalArgumentException if its length is not a multiple of that of an element
    public static Elements of(MemorySegment segment, ElementType type) {
        return new Elements(segment, type, null, 0);
    }

    /// A part of a buffer.
    static Elements of(MeshBuffer buffer, ElementType type, long offset, long bytes) {
        return new Elements(buffer.segment().asSlice(offset, bytes), type, buffer, offset);
    }

    /// The elements from `first` on.
    ///
    /// @throws IndexOutOfBoundsException if they are not within these
    public Elements slice(long first, long elements) {
        Objects.checkFromIndexSize(first, elements, count());
        long from = first * type.bytes();
        return new Elements(segment.asSlice(from, elements * type.bytes()), type, buffer, offset + from);
    }

    /// Their type.
    public ElementType type() {
        return type;
    }

    /// The number of elements.
    public long count() {
        return segment.byteSize() / type.bytes();
    }

    /// Their length in bytes.
    public long bytes() {
        return segment.byteSize();
    }

    /// Their memory.
    public MemorySegment segment() {
        return segment;
    }

    /// The buffer that they are a part of; null if they are in other memory.
    @Nullable
    MeshBuffer buffer() {
        return buffer;
    }

    /// Their offset in [#buffer()].
    long offset() {
        return offset;
    }

    /// Whether peers can write them.
    boolean isRegistered() {
        return buffer != null;
    }

    /// A range of them as the source of a WRITE.
    BufferSlice source(long from, long length) {
        MeshBuffer of = buffer;
        if (of == null) {
            throw new IllegalStateException(this + " are not in registered memory");
        }
        return of.buffer().slice(offset + from, length);
    }

    /// Whether these are the same memory as `other`.
    boolean isSame(Elements other) {
        return this == other || segment.equals(other.segment);
    }

    /// Whether these share a byte with `other`.
    boolean overlaps(Elements other) {
        return segment.asOverlappingSlice(other.segment).isPresent();
    }

    @Override
    public String toString() {
        return count() + " elements of type " + type + (buffer == null ? "" : " of " + buffer);
    }
}
