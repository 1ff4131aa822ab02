package io.rdmacomm.soft.shm;

import io.rdmacomm.soft.transport.Engine;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.service.Closer;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The contexts of this host that a context is connected to, by LID.
final class PeerContexts implements AutoCloseable {
    private final Engine engine;
    private final Consumer<ShmPeer> onEnd;
    private final int ownLid;
    private final Gid ownGid;
    private final Map<Integer, ShmPeer> connected = new ConcurrentHashMap<>();
    private boolean closed;

    /// @param onEnd called on the engine's thread when the connection to a peer has ended, perhaps more than once
    PeerContexts(Engine engine, int ownLid, Gid ownGid, Consumer<ShmPeer> onEnd) {
        this.engine = engine;
        this.onEnd = onEnd;
        this.ownLid = ownLid;
        this.ownGid = ownGid;
    }

    /// The peer with this GID and LID; connects to it if necessary. Null if there is none. Does not block.
    synchronized @Nullable ShmPeer find(Gid gid, int lid) {
        ShmPeer peer = connected.get(lid);
        if (peer == null && !closed) {
            peer = connect(gid, lid);
        }
        return peer != null && peer.isConnected() && peer.hasGid(gid) ? peer : null;
    }

    private @Nullable ShmPeer connect(Gid gid, int lid) {
        ShmPeer peer = ShmPeer.connect(lid, gid, ownLid, ownGid);
        if (peer != null) {
            PeerWatch watch = new PeerWatch(peer, engine, onEnd);
            engine.execute(watch::begin);
            peer.outbox().onWait(() -> engine.execute(watch::flush));
            connected.put(lid, peer);
        }
        return peer;
    }

    /// The peer with this LID if it is connected.
    @Nullable
    ShmPeer known(int lid) {
        return connected.get(lid);
    }

    void sendAll(int type) {
        for (ShmPeer peer : connected.values()) {
            Closer.step(peer, () -> peer.send(type, 0, ownLid, 0));
        }
    }

    /// The peer `lid` has closed regions.
    void forgetRegions(int lid) {
        ShmPeer peer = connected.get(lid);
        if (peer != null) {
            peer.forgetRegions();
        }
    }

    synchronized void remove(ShmPeer peer) {
        connected.remove(peer.lid(), peer);
    }

    @Override
    public synchronized void close() {
        closed = true;
        for (ShmPeer peer : connected.values()) {
            Closer.step(peer, peer::close);
        }
        connected.clear();
    }
}
