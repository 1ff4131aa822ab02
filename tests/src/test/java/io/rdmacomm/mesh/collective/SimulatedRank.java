package io.rdmacomm.mesh.collective;

import java.util.HashMap;
import java.util.Map;

/// A rank of a simulated mesh: its clock, which counts hops, its lanes, and the pieces that it has sent.
final class SimulatedRank implements PeerLanes {
    private final SimulatedMesh mesh;
    private final int rank;
    private final Map<Integer, SimulatedLane[]> lanes = new HashMap<>();
    private int now;
    private long call = -1;
    private long pieces;

    SimulatedRank(SimulatedMesh mesh, int rank) {
        this.mesh = mesh;
        this.rank = rank;
    }

    @Override
    public int rank() {
        return rank;
    }

    @Override
    public int size() {
        return mesh.size();
    }

    @Override
    public int pieceBytes() {
        return mesh.sizes().slotBytes();
    }

    @Override
    public int slots() {
        return mesh.sizes().slots();
    }

    @Override
    public Lane lane(int peer, int stream) {
        int other = Math.floorMod(peer, size());
        if (other == rank) {
            throw new IllegalArgumentException("rank " + rank + " has no lane to itself");
        }
        SimulatedLane[] ofPeer = lanes.computeIfAbsent(other, key -> new SimulatedLane[Lane.STREAMS]);
        if (ofPeer[stream] == null) {
            ofPeer[stream] = new SimulatedLane(this, mesh.flow(rank, other, stream), mesh.flow(other, rank, stream));
        }
        return ofPeer[stream];
    }

    int messageBytes() {
        return mesh.sizes().messageBytes();
    }

    boolean isRegistered() {
        return mesh.isRegistered();
    }

    long slotOffset(int slot) {
        return (long) slot * mesh.sizes().slotBytes();
    }

    /// The next call begins.
    void begin() {
        call++;
    }

    /// The number of the call in progress.
    long call() {
        return call;
    }

    void waitUntil(int hop) {
        now = Math.max(now, hop);
    }

    /// Sends a message.
    ///
    /// @return the hop at which it arrives
    int send() {
        return now + 1;
    }

    void countPiece() {
        pieces++;
    }

    /// The number of messages so far of which each needed the one before.
    int hops() {
        return now;
    }

    long pieces() {
        return pieces;
    }

    /// The ranks that it has talked to.
    int peers() {
        return lanes.size();
    }
}
