package io.rdmacomm.soft.shm;

import io.rdmacomm.soft.transport.Engine;
import io.rdmacomm.verbs.Gid;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The contexts of this host that a context is connected to, by LID.
final class Peers implements AutoCloseable {
    private final Engine engine;
    private final Consumer<Peer> onEnd;
    private final int ownLid;
    private final Gid ownGid;
    private final Map<Integer, Peer> connected = new ConcurrentHashMap<>();
    private boolean closed;

    /// @param onEnd told on the engine's thread that the connection to a peer has ended, perhaps more than once
    Peers(Engine engine, int ownLid, Gid ownGid, Consumer<Peer> onEnd) {
        this.engine = engine;
        this.onEnd = onEnd;
        this.ownLid = ownLid;
        this.ownGid = ownGid;
    }

    /// The peer with this GID and LID, connected now if it was not; null if there is none. Does not block.
    synchronized @Nullable Peer find(Gid gid, int lid) {
        Peer peer = connected.get(lid);
        if (peer == null && !closed) {
            peer = connect(gid, lid);
        }
        return peer != null && peer.isConnected() && peer.hasGid(gid) ? peer : null;
    }

    private @Nullable Peer connect(Gid gid, int lid) {
        Peer peer = Peer.connect(lid, gid, ownLid, ownGid);
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
    Peer known(int lid) {
        return connected.get(lid);
    }

    void tellAll(int type) {
        for (Peer peer : connected.values()) {
            peer.tell(type, 0, ownLid, 0);
        }
    }

    /// The peer `lid` has closed regions.
    void forgetRegions(int lid) {
        Peer peer = connected.get(lid);
        if (peer != null) {
            peer.forgetRegions();
        }
    }

    synchronized void remove(Peer peer) {
        connected.remove(peer.lid(), peer);
    }

    @Override
    public synchronized void close() {
        closed = true;
        connected.values().forEach(Peer::close);
        connected.clear();
    }
}
