package io.rdmacomm.mesh.collective;

import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.RemoteBuffer;
import java.lang.foreign.MemorySegment;
import java.util.List;

/// Registered memory of the same length on every node of a mesh, which every node can write and read by one key:
/// one [RdmaBuffer] here, and one [RemoteBuffer] for each peer. Made by [io.rdmacomm.mesh.Mesh#allocate].
/// Collectives write straight into it. Between collectives, programs may also use it for one-sided operations of
/// their own, on any channel of the mesh.
///
/// Any thread may read and write the local memory, except while a collective uses it.
public final class MeshBuffer implements AutoCloseable {
    private final CollectiveEngine owner;
    private final RdmaBuffer local;
    private final List<RemoteBuffer> all;

    /// @param owner runs the collectives that may use it
    /// @param all the buffers of all ranks, by rank
    MeshBuffer(CollectiveEngine owner, RdmaBuffer local, List<RemoteBuffer> all) {
        this.owner = owner;
        this.local = local;
        this.all = List.copyOf(all);
    }

    /// Its name, the same on all ranks.
    public String name() {
        return local.name();
    }

    /// Its length in bytes on each rank.
    public long length() {
        return local.length();
    }

    /// The memory of this rank.
    public MemorySegment segment() {
        return local.segment();
    }

    /// The buffer of this rank.
    public RdmaBuffer buffer() {
        return local;
    }

    /// The buffer of another rank, or this one's as others see it.
    ///
    /// @throws IndexOutOfBoundsException if there is no such rank
    public RemoteBuffer remote(int rank) {
        return all.get(rank);
    }

    /// All of it as numbers.
    ///
    /// @throws IllegalArgumentException if its length is not a multiple of that of an element
    public Elements elements(ElementType type) {
        return Elements.of(this, type, 0, length());
    }

    /// A part of it as numbers.
    ///
    /// @param offset the start of the part, in bytes
    /// @param count the number of elements
    /// @throws IndexOutOfBoundsException if the part is not within it
    public Elements elements(ElementType type, long offset, long count) {
        return Elements.of(this, type, offset, Math.multiplyExact(count, type.bytes()));
    }

    /// Frees the memory of this rank. Peers no longer reach it: a one-sided operation on it fails, and its
    /// endpoint with it, so call [Collectives#barrier] before. Collectives never touch the memory of a rank that
    /// does not take part in them. Idempotent. The mesh frees what is left when it is closed.
    @Override
    public void close() {
        local.close();
    }

    /// This rank's buffer as its peers see it.
    RemoteBuffer own() {
        return all.get(owner.rank());
    }

    /// Whether it is open, and collectives of `engine` may use it.
    boolean isUsableIn(CollectiveEngine engine) {
        return engine.equals(owner) && local.isOpen();
    }

    @Override
    public String toString() {
        return "mesh buffer '" + name() + "' of " + length() + " bytes";
    }
}
