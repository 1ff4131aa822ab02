package io.rdmacomm.mesh.collective;

import io.rdmacomm.comm.BufferSlice;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.RemoteBuffer;
import io.rdmacomm.comm.Session;
import io.rdmacomm.verbs.AccessFlag;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/// The connections to all other ranks, and their registered memory: one region to send from, and one that peers write
/// to.
final class RankConnections implements PeerLanes {
    private static final long ABORT_ROOM = 1024;
    private static final long ABORT_NANOS = 200_000_000;
    private static final String NAME = "rdmacomm collectives, ";

    private final int rank;
    private final int size;
    private final SlotSizes sizes;
    private final @Nullable RankConnection[] byRank;
    private final List<RankConnection> all = new ArrayList<>();
    private final RdmaBuffer outgoing;
    private final RdmaBuffer incoming;
    private final BufferSlice abortRoom;
    private final Session session;
    private final CallLog log;
    private boolean setUp;

    RankConnections(CollectiveGroup group, CollectiveOptions options, CallLog log, Waiting waiting) {
        this.rank = group.rank();
        this.size = group.size();
        this.session = group.session();
        this.log = log;
        this.sizes = SlotSizes.of(options, size - 1);
        this.byRank = new RankConnection[size];
        long outgoingBytes = ABORT_ROOM;
        for (int peer = 0; peer < size; peer++) {
            if (peer != rank) {
                check(group.channel(peer));
                outgoingBytes += outgoingBytes(group.channel(peer));
            }
        }
        long incomingBytes = Math.max(1, (size - 1) * RankConnection.incomingBytes(sizes));
        this.outgoing = session.allocate(NAME + "outgoing", outgoingBytes, 1, EnumSet.of(AccessFlag.LOCAL_WRITE));
        this.incoming = incoming(session, incomingBytes, outgoing);
        this.abortRoom = outgoing.slice(0, ABORT_ROOM);
        long outOffset = ABORT_ROOM;
        for (int peer = 0; peer < size; peer++) {
            if (peer != rank) {
                RdmaChannel channel = group.channel(peer);
                RankConnection connection = new RankConnection(
                        peer, channel, log, waiting, sizes, outgoing, outOffset, incoming, incomingOffset(all.size()));
                outOffset += outgoingBytes(channel);
                byRank[peer] = connection;
                all.add(connection);
            }
        }
        all.forEach(RankConnection::listen);
    }

    private static RdmaBuffer incoming(Session session, long bytes, RdmaBuffer outgoing) {
        boolean allocated = false;
        try {
            RdmaBuffer made = session.allocate(
                    NAME + "incoming", bytes, 1, EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE));
            allocated = true;
            return made;
        } finally {
            if (!allocated) {
                // Its name must be free for another attempt.
                outgoing.close();
            }
        }
    }

    private void check(RdmaChannel channel) {
        if (channel.maxMessageBytes() < Notice.BYTES + sizes.messageBytes()) {
            throw new IllegalArgumentException(channel + " allows messages of " + channel.maxMessageBytes()
                    + " bytes; collectives need " + (Notice.BYTES + sizes.messageBytes())
                    + ": lower CollectiveOptions.messageBytes, or raise ChannelOptions.messageBytes");
        }
        if (channel.options().sendWindow() < RankConnection.TOGETHER) {
            throw new IllegalArgumentException(channel + " has a send window of "
                    + channel.options().sendWindow() + "; collectives need at least " + RankConnection.TOGETHER
                    + ": raise ChannelOptions.sendWindow");
        }
        int needed = Lane.STREAMS * sizes.slots() + 4;
        if (channel.options().receives() * 3 / 4 < needed) {
            throw new IllegalArgumentException(
                    channel + " has " + channel.options().receives()
                            + " receives; collectives with " + sizes.slots() + " slots need "
                            + (needed * 4 / 3 + 1) + ": raise ChannelOptions.receives");
        }
    }

    private long outgoingBytes(RdmaChannel channel) {
        return RankConnection.outgoingBytes(channel.options().sendWindow(), sizes);
    }

    private long incomingOffset(int index) {
        return index * RankConnection.incomingBytes(sizes);
    }

    @Override
    public int rank() {
        return rank;
    }

    @Override
    public int size() {
        return size;
    }

    @Override
    public int pieceBytes() {
        return sizes.slotBytes();
    }

    @Override
    public int slots() {
        return sizes.slots();
    }

    @Override
    public Lane lane(int peer, int stream) {
        RankConnection connection = byRank[Math.floorMod(peer, size)];
        if (connection == null) {
            throw new IllegalArgumentException("rank " + rank + " has no lane to itself");
        }
        return connection.lane(stream);
    }

    /// At the first call, sends all peers the address of their slots, and waits for theirs.
    void setUp() {
        if (!setUp) {
            RemoteBuffer own = incoming.asRemote();
            for (int i = 0; i < all.size(); i++) {
                all.get(i).sendSetUp(own, incomingOffset(i));
            }
            for (RankConnection connection : all) {
                var _ = connection.slots();
            }
            setUp = true;
        }
    }

    /// Compares the calls of notices that arrived early with the call that begins.
    void compareEarly() {
        for (int i = 0; i < all.size(); i++) {
            all.get(i).compareEarly();
        }
    }

    /// Waits until no peer is being written to from memory of the caller.
    void awaitUserWrites() {
        for (int i = 0; i < all.size(); i++) {
            all.get(i).awaitUserWrites();
        }
    }

    /// Sends all peers the call that this rank waits in.
    void sendState() {
        all.forEach(RankConnection::trySendState);
    }

    /// Tells all peers that the collectives have ended. Waits up to 200 ms for room.
    void sendEnd(CollectiveFault why) {
        int most = all.stream().mapToInt(RankConnection::maxMessageBytes).min().orElse(Notice.BYTES);
        BufferSlice message = RankConnection.abort(why, log, abortRoom, most);
        long deadline = System.nanoTime() + ABORT_NANOS;
        List<RankConnection> left = new ArrayList<>(all);
        while (!left.isEmpty() && System.nanoTime() < deadline) {
            left.removeIf(connection -> !connection.isOpen() || connection.trySendAbort(message));
            session.poll();
            if (!left.isEmpty()) {
                // Credits are words in memory, which do not wake a thread.
                LockSupport.parkNanos(this, Duration.ofNanos(100_000).toNanos());
            }
        }
    }
}
