package io.rdmacomm.comm.mesh.collective;

import io.rdmacomm.comm.RemoteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The allocated mesh buffers, by number. Ranks allocate in the same order, so a number means the same buffer on
/// all of them. For one thread at a time.
final class MeshBuffers {
    private final List<MeshBuffer> all = new ArrayList<>();

    /// The number of the next buffer.
    int next() {
        return all.size();
    }

    void add(MeshBuffer buffer) {
        all.add(buffer);
    }

    /// Whether a buffer is one of these, and open.
    boolean contains(MeshBuffer buffer) {
        return buffer.id() < all.size() && all.get(buffer.id()) == buffer && buffer.isOpen();
    }

    /// The memory of `rank` in a buffer.
    ///
    /// @param id the number of the buffer, from a peer, so possibly invalid
    /// @return null if there is no such buffer
    @Nullable
    RemoteBuffer remote(long id, int rank) {
        return id >= 0 && id < all.size() ? all.get((int) id).remote(rank) : null;
    }
}
