package io.rdmacomm.nio.rsocket;

import io.rdmacomm.verbs.MemoryRegion;
import io.rdmacomm.verbs.service.Closer;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.BitSet;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The memory that this side has mapped for the peer, and the mappings not yet announced. Not thread-safe.
final class OwnMappings {
    private final Set<Mapping> all = new HashSet<>();
    private final BitSet used = new BitSet();
    private final Deque<Mapping> untold = new ArrayDeque<>();
    private int most;

    /// Starts with the number of mappings that the peer has room for.
    void begin(ConnectionData peer) {
        most = peer.mappings();
    }

    /// Maps memory.
    ///
    /// @param closer called when the mapping is closed
    /// @throws IOException if the peer has no room for it
    Mapping add(long offset, MemoryRegion region, Consumer<Mapping> closer) throws IOException {
        int index = used.nextClearBit(0);
        if (index >= most) {
            throw new IOException("the peer has room for " + most
                    + " mappings; close one, or raise RDMA_IOMAPSIZE there (in Java RdmaSocketOptions.MAPPINGS)");
        }
        used.set(index);
        Mapping mapping = new Mapping(index, offset, region, closer);
        all.add(mapping);
        untold.add(mapping);
        return mapping;
    }

    void remove(Mapping mapping) {
        if (all.remove(mapping)) {
            used.clear(mapping.index());
            untold.remove(mapping);
        }
    }

    /// The next mapping to announce to the peer.
    @Nullable
    Mapping pollUntold() {
        return untold.poll();
    }

    /// Ends all mappings.
    void closeAll() {
        untold.clear();
        List<Mapping> ended = List.copyOf(all);
        all.clear();
        for (Mapping mapping : ended) {
            Closer.step(mapping, mapping.region()::close);
        }
    }
}
