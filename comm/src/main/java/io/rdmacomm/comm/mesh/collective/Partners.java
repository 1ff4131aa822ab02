package io.rdmacomm.comm.mesh.collective;

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

/// All peers of a mesh with the registered memory that collectives need: one region to send from, one that peers
/// write into.
final class Partners implements Lanes {
    private static final long ABORT_ROOM = 1024;
    private static final long ABORT_NANOS = 200_000_000;
    private static final String NAME = "rdmacomm collectives, ";

    private final int rank;
    private final int size;
    private final CollectiveOptions options;
    private final @Nullable Partner[] byRank;
    private final List<Partner> all = new ArrayList<>();
    private final RdmaBuffer outgoing;
    private final RdmaBuffer incoming;
    private final BufferSlice abortRoom;
    private final Session session;
    private boolean setUp;

    Partners(CollectiveGroup links, CollectiveOptions wanted, CallLog log, Waiting waiting) {
        this.rank = links.rank();
        this.size = links.size();
        this.session = links.session();
        this.options = wanted.settled(size - 1);
        this.byRank = new Partner[size];
        long outgoingBytes = ABORT_ROOM;
        for (int peer = 0; peer < size; peer++) {
            if (peer != rank) {
                check(links.channel(peer));
                outgoingBytes += outgoingBytes(links.channel(peer));
            }
        }
        long incomingBytes = Math.max(1, (size - 1) * Partner.incomingBytes(options));
        this.outgoing = session.allocate(NAME + "outgoing", outgoingBytes, 1, EnumSet.of(AccessFlag.LOCAL_WRITE));
        this.incoming = session.allocate(
                NAME + "incoming", incomingBytes, 1, EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE));
        this.abortRoom = outgoing.slice(0, ABORT_ROOM);
        long outOffset = ABORT_ROOM;
        for (int peer = 0; peer < size; peer++) {
            if (peer != rank) {
                RdmaChannel channel = links.channel(peer);
                Partner partner = new Partner(
                        peer,
                        channel,
                        log,
                        waiting,
                        options,
                        outgoing,
                        outOffset,
                        incoming,
                        incomingOffset(all.size()));
                outOffset += outgoingBytes(channel);
                byRank[peer] = partner;
                all.add(partner);
            }
        }
        all.forEach(Partner::listen);
    }

    private void check(RdmaChannel channel) {
        if (channel.maxMessageBytes() < Notice.BYTES + options.messageBytes()) {
            throw new IllegalArgumentException(channel + " allows messages of " + channel.maxMessageBytes()
                    + " bytes; collectives need " + (Notice.BYTES + options.messageBytes())
                    + ": lower CollectiveOptions.messageBytes, or raise ChannelOptions.messageBytes");
        }
        int needed = Lane.STREAMS * options.slots() + 4;
        if (channel.options().receives() * 3 / 4 < needed) {
            throw new IllegalArgumentException(
                    channel + " has " + channel.options().receives()
                            + " receives; collectives with " + options.slots() + " slots need "
                            + (needed * 4 / 3 + 1) + ": raise ChannelOptions.receives");
        }
    }

    private long outgoingBytes(RdmaChannel channel) {
        return Partner.outgoingBytes(channel.options().sendWindow(), options);
    }

    private long incomingOffset(int index) {
        return index * Partner.incomingBytes(options);
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
        return options.slotBytes();
    }

    @Override
    public int slots() {
        return options.slots();
    }

    @Override
    public Lane lane(int peer, int stream) {
        Partner partner = byRank[Math.floorMod(peer, size)];
        if (partner == null) {
            throw new IllegalArgumentException("rank " + rank + " has no lane to itself");
        }
        return partner.lane(stream);
    }

    /// Tells all peers where their slots are, the first time that it is called, and waits for theirs.
    void setUp() {
        if (!setUp) {
            RemoteBuffer own = incoming.asRemote();
            for (int i = 0; i < all.size(); i++) {
                all.get(i).sendSetUp(own, incomingOffset(i));
            }
            for (Partner partner : all) {
                var _ = partner.slots();
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

    /// Tells all peers which call this rank waits in.
    void tellState() {
        all.forEach(Partner::trySendState);
    }

    /// Tells all peers that the collectives have ended. Waits a little where there is no room.
    void tellEnd(Fault why) {
        long deadline = System.nanoTime() + ABORT_NANOS;
        List<Partner> left = new ArrayList<>(all);
        while (!left.isEmpty() && System.nanoTime() < deadline) {
            left.removeIf(partner -> !partner.isOpen() || partner.trySendAbort(why, abortRoom));
            session.poll();
            if (!left.isEmpty()) {
                // Credits are words in memory, which wake nobody.
                LockSupport.parkNanos(this, Duration.ofNanos(100_000).toNanos());
            }
        }
    }
}
