package io.rdmacomm.mesh.collective;

import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.RemoteBuffer;
import io.rdmacomm.comm.Session;
import io.rdmacomm.verbs.AccessFlag;
import io.rdmacomm.verbs.RdmaException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Allocates a buffer on all ranks, which then exchange its addresses. If one rank has no memory, no rank gets a
/// buffer.
final class MeshAllocation {
    private static final int WORDS = 4;

    private final CollectiveEngine engine;
    private final Session session;
    private final String name;
    private final long bytes;

    MeshAllocation(CollectiveEngine engine, String name, long bytes) {
        this.engine = engine;
        this.session = engine.session();
        this.name = name;
        this.bytes = bytes;
    }

    /// Blocks until all ranks have allocated.
    MeshBuffer run(Duration timeout) {
        RdmaBuffer local = null;
        RdmaException failure = null;
        try {
            local = session.allocate(name, bytes, 1, access());
        } catch (RdmaException e) {
            failure = e;
        }
        boolean complete = false;
        try {
            long[] words = exchange(local, timeout);
            if (failure != null) {
                throw failure;
            }
            MeshBuffer buffer = new MeshBuffer(engine, checked(local), remotes(words));
            complete = true;
            return buffer;
        } finally {
            if (!complete && local != null) {
                local.close();
            }
        }
    }

    private Set<AccessFlag> access() {
        Set<AccessFlag> access = EnumSet.copyOf(AccessFlag.allRemote());
        access.addAll(session.options().access());
        return access;
    }

    private static RdmaBuffer checked(@Nullable RdmaBuffer local) {
        if (local == null) {
            throw new IllegalStateException("the buffer was not allocated");
        }
        return local;
    }

    /// The address, length, key and name of the buffers of all ranks; a length of 0 where there is none.
    private long[] exchange(@Nullable RdmaBuffer local, Duration timeout) {
        long[] own = new long[WORDS];
        own[3] = name.hashCode();
        if (local != null) {
            RemoteBuffer seen = local.asRemote();
            own[0] = seen.address();
            own[1] = seen.length();
            own[2] = seen.key();
        }
        long[] all = new long[WORDS * engine.size()];
        engine.run(
                CollectiveKind.ALLOCATE,
                Algorithm.RECURSIVE_DOUBLING,
                bytes,
                Elements.of(own),
                Elements.of(all),
                false,
                null,
                0,
                timeout);
        return all;
    }

    private List<RemoteBuffer> remotes(long[] words) {
        List<RemoteBuffer> remotes = new ArrayList<>();
        for (int rank = 0; rank < engine.size(); rank++) {
            int at = WORDS * rank;
            if (words[at + 3] != name.hashCode()) {
                throw new CollectiveMismatchException(
                        "rank " + rank + " has allocated a buffer of another name than '" + name + "'", null);
            }
            if (words[at + 1] != bytes) {
                throw new RdmaException(
                        "rank " + rank + " could not allocate the " + bytes + " bytes of '" + name + "'", null);
            }
            remotes.add(RemoteBuffer.of(name + " of rank " + rank, words[at], bytes, (int) words[at + 2], access()));
        }
        return remotes;
    }
}
