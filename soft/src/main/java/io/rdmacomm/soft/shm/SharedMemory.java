package io.rdmacomm.soft.shm;

import io.rdmacomm.soft.mapped.ControlFile;
import io.rdmacomm.soft.mapped.ControlLayout;
import io.rdmacomm.soft.mapped.SharedWords;
import io.rdmacomm.soft.mapped.ShmDirectory;
import io.rdmacomm.soft.memory.LocalMemory;
import io.rdmacomm.soft.transport.Destination;
import io.rdmacomm.soft.transport.Engine;
import io.rdmacomm.soft.transport.QueuePairResources;
import io.rdmacomm.soft.transport.Transport;
import io.rdmacomm.verbs.AsyncEventType;
import io.rdmacomm.verbs.Gid;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/// The shared memory side of a context: connects it to other contexts of this host, handles their messages, and
/// cleans up when one of them dies.
public final class SharedMemory implements AutoCloseable {
    /// Messages of peers about objects of this context. Called by the engine.
    public interface Events {
        /// A context has connected to this one.
        void onHello(Gid gid, int lid);

        /// A completion queue was armed without a bell and has a completion.
        void onCompletion(int completionQueue);

        /// The bell at this offset has rung.
        void onBell(long bell);

        /// A completion queue had no room for a completion.
        void onOverrun(int completionQueue);

        /// A shared receive queue fell below its limit.
        void onLimit(int sharedReceiveQueue);

        /// A queue pair got its first message.
        void onEstablished(int queuePair);

        /// A queue pair must fail, because its peer's request was refused.
        void onFault(int queuePair, AsyncEventType event);

        /// The connection of a context has ended, and the queue pairs that were connected to it have failed.
        /// It sends nothing more, but finishes operations in progress if its process was only stopped.
        void onPeerParted();

        /// The context with this LID, which had parted, has ended. After this call its memory is unmapped, so
        /// operations in flight must have ended.
        void onPeerDied(int lid);
    }

    private final int lid;
    private final Gid gid;
    private final LocalMemory memory;
    private final Engine engine;
    private final Events events;
    private final PeerContexts peers;
    private final Stager stager;
    private final StagingServer stagingServer;
    private final ControlConnections control;
    private final DisconnectedPeers disconnected;
    private final MemorySegment controlMemory;
    private final Map<Integer, ShmTransport> transports = new ConcurrentHashMap<>();

    /// Listens for peers.
    ///
    /// @throws IOException if the socket cannot be made
    public SharedMemory(
            ShmDirectory directory, Gid gid, ControlFile file, LocalMemory memory, Engine engine, Events events)
            throws IOException {
        this.lid = directory.lid();
        this.engine = engine;
        this.gid = gid;
        this.memory = memory;
        this.events = events;
        this.controlMemory = file.memory();
        this.peers = new PeerContexts(engine, lid, gid, this::onPeerParted);
        this.disconnected = new DisconnectedPeers(this::attempt, this::partIfConnected, events);
        this.stager = new Stager(file, engine);
        this.stagingServer = new StagingServer(lid, memory, this::connected);
        this.control = ControlConnections.listen(directory.file(ShmPeer.SOCKET), engine, new Receiver());
    }

    /// Makes a transport to the destination in `resources`, if its context is on this host.
    ///
    /// @return null if it is not there
    public @Nullable Transport connect(QueuePairResources resources) {
        Destination destination = resources.destination();
        ShmPeer peer = peers.find(destination.gid(), destination.lid());
        if (peer == null) {
            return null;
        }
        int number = resources.number();
        ShmTransport transport = new ShmTransport(
                peer, lid, gid, memory, stager, stagingServer, resources, ended -> transports.remove(number, ended));
        transports.put(number, transport);
        if (!peer.isConnected()) {
            // The engine has handled its end, or is doing so now.
            transport.close();
            return null;
        }
        return transport;
    }

    /// Whether the context with this GID, LID and identity is on this host. Connects to it.
    ///
    /// @param identity the identity that its control file must have
    public boolean reaches(Gid theirs, int theirLid, UUID identity) {
        ShmPeer peer = peers.find(theirs, theirLid);
        try {
            return peer != null && peer.isNamed(identity);
        } catch (IllegalStateException | InternalError e) {
            // It has just ended, or its file was truncated.
            return false;
        }
    }

    private @Nullable QueuePairResources connected(int queuePair, ShmPeer peer) {
        ShmTransport transport = transports.get(queuePair);
        return transport == null ? null : transport.connectedTo(peer);
    }

    /// How many pieces were copied through staging blocks on behalf of this side, to or from memory that only the
    /// peer can access.
    public long stagedCopies() {
        return stager.copies();
    }

    /// How many pieces this side has copied for peers, to or from memory that only it can access.
    public long stagedCopiesForPeers() {
        return stagingServer.copies();
    }

    /// Waits for the copy that this side is making for a peer, if any; any thread.
    public void awaitCopiesForPeers() {
        stagingServer.awaitIdle();
    }

    /// Notifies peers that they can drop their mapping of a region whose key is no longer valid.
    public void regionGone() {
        SharedWords.getAndAdd(controlMemory, ControlLayout.HEADER_REGIONS_GONE, 1);
        peers.sendAll(ShmMessage.REGIONS_GONE);
    }

    private void onMessage(int type, int number, long first, long second) {
        switch (type) {
            case ShmMessage.COMPLETION -> events.onCompletion(number);
            case ShmMessage.BELL -> events.onBell(first);
            case ShmMessage.FAULT -> events.onFault(number, AsyncEventType.of((int) first));
            case ShmMessage.OVERRUN -> events.onOverrun(number);
            case ShmMessage.LIMIT -> events.onLimit(number);
            case ShmMessage.ESTABLISHED -> events.onEstablished(number);
            case ShmMessage.REGIONS_GONE -> peers.forgetRegions((int) first);
            case ShmMessage.STAGE -> stagingServer.serve(peers.known((int) first), second);
            case ShmMessage.STAGED -> stager.answered(peers.known((int) first));
            default -> {
                // A message of a later version is ignored.
            }
        }
    }

    /// One of the two connections with a peer has ended; the other one follows.
    private void onPeerParted(ShmPeer peer) {
        if (!peer.isConnected()) {
            return;
        }
        peer.part();
        peers.remove(peer);
        List<ShmTransport> connections = transports.values().stream()
                .filter(transport -> transport.isTo(peer))
                .toList();
        for (ShmTransport transport : connections) {
            attempt(transport::peerParted);
        }
        stager.forget(peer);
        attempt(events::onPeerParted);
        disconnected.add(peer, connections);
    }

    /// The context with this LID has ended. It may have connected again after an earlier connection had ended.
    private void partIfConnected(int theirLid) {
        ShmPeer peer = peers.known(theirLid);
        if (peer != null) {
            onPeerParted(peer);
        }
    }

    /// A failure for one must not prevent the others from being notified.
    private void attempt(Runnable step) {
        try {
            step.run();
        } catch (RuntimeException | Error e) {
            engine.report(e);
        }
    }

    /// Ends a pause of the control connections, and checks the peers that have parted; on the engine's thread.
    ///
    /// @return nanoseconds until the next call is due
    public long onTime() {
        return Math.min(control.onTime(), disconnected.onTime());
    }

    /// Ends the connections to all peers; the engine has stopped.
    @Override
    public void close() {
        peers.close();
        disconnected.close();
    }

    private final class Receiver implements ControlConnections.Receiver {
        @Override
        public @Nullable ShmPeer onHello(Gid theirs, int theirLid) {
            // The peer can access this context's memory now, so watch it, too.
            ShmPeer peer = peers.find(theirs, theirLid);
            events.onHello(theirs, theirLid);
            return peer;
        }

        @Override
        public void onMessage(int type, int number, long first, long second) {
            SharedMemory.this.onMessage(type, number, first, second);
        }

        @Override
        public void onEnd(ShmPeer peer) {
            onPeerParted(peer);
        }
    }
}
