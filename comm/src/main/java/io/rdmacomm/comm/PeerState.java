package io.rdmacomm.comm;

import io.rdmacomm.comm.endpoint.EndPointLife;
import io.rdmacomm.comm.endpoint.EndPointLife.State;
import io.rdmacomm.verbs.RdmaException;
import io.rdmacomm.verbs.RdmaInterruptedException;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/// The buffers that the peer of an endpoint has announced and the barriers that it has reached, and the
/// threads that wait for them. Thread-safe.
final class PeerState {
    private final EndPointLife<RdmaException> life;
    private final Map<String, RemoteBuffer> buffers = new TreeMap<>();
    private long barriers;

    /// @param life of the endpoint; waits end when it is no longer ready
    PeerState(EndPointLife<RdmaException> life) {
        this.life = life;
    }

    void reachedBarrier() {
        life.change(() -> barriers++);
    }

    /// Adds a buffer that the peer has announced; it replaces an older one of the same name.
    ///
    /// @param most the limit of buffers
    /// @return whether there was room for it
    boolean keep(RemoteBuffer buffer, int most) {
        return life.read(() -> {
            if (buffers.size() >= most && !buffers.containsKey(buffer.name())) {
                return false;
            }
            life.change(() -> buffers.put(buffer.name(), buffer));
            return true;
        });
    }

    /// Removes a buffer that the peer has withdrawn.
    void forget(String name) {
        life.change(() -> buffers.remove(name));
    }

    /// The buffer of that name; null if the peer has not announced it.
    @Nullable
    RemoteBuffer buffer(String name) {
        return life.read(() -> Optional.ofNullable(buffers.get(name))).orElse(null);
    }

    Map<String, RemoteBuffer> buffers() {
        return life.read(() -> Map.copyOf(buffers));
    }

    /// Waits until the peer has announced a buffer, or the endpoint is not ready.
    ///
    /// @throws RdmaInterruptedException if the thread was interrupted
    @Nullable
    RemoteBuffer awaitBuffer(String name, long deadline) {
        await(() -> buffers.containsKey(name) || isOver(), deadline);
        return buffer(name);
    }

    /// Waits until the peer has reached `count` barriers, or the endpoint is not ready.
    ///
    /// @return whether it has reached them
    /// @throws RdmaInterruptedException if the thread was interrupted
    boolean awaitBarriers(long count, long deadline) {
        await(() -> barriers >= count || isOver(), deadline);
        return life.read(() -> barriers >= count);
    }

    /// Waits until the peer is done, or the endpoint has failed or is closed.
    ///
    /// @return false if the deadline has passed first
    /// @throws RdmaInterruptedException if the thread was interrupted
    boolean awaitPeerFinished(long deadline) {
        return await(life::isPeerFinished, deadline);
    }

    private boolean isOver() {
        return life.state() != State.READY;
    }

    private boolean await(BooleanSupplier condition, long deadline) {
        try {
            return life.await(condition, deadline);
        } catch (InterruptedException e) {
            throw Failures.interrupted("waiting for the peer", e);
        }
    }
}
