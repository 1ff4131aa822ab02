package io.rdmacomm.comm.mesh;

import io.rdmacomm.tests.simulation.clock.Network;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;

/// A rank of a simulated mesh: its clock, its link, its lanes, and what it has sent.
final class SimulatedRank implements Lanes {
    private final SimulatedMesh mesh;
    private final Network network;
    private final int rank;
    private final Map<Integer, SimulatedLane[]> lanes = new HashMap<>();
    private double now;
    private double linkFree;
    private double writesEnd;
    private long call = -1;
    private long pieces;
    private long notices;
    private long requests;
    private long bytes;

    SimulatedRank(SimulatedMesh mesh, int rank) {
        this.mesh = mesh;
        this.network = mesh.network();
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
        return mesh.options().slotBytes();
    }

    @Override
    public int slots() {
        return mesh.options().slots();
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
        return mesh.options().messageBytes();
    }

    boolean isRegistered() {
        return mesh.isRegistered();
    }

    long slotOffset(int slot) {
        return mesh.slotOffset(slot);
    }

    void copy(MemorySegment from, long fromOffset, MemorySegment to, long toOffset, int length) {
        if (mesh.movesData()) {
            MemorySegment.copy(from, fromOffset, to, toOffset, length);
        }
    }

    /// A reducer that takes time, and reduces if the mesh moves data.
    Reducer reducer(ElementType type, Reduction reduction) {
        Reducer real = Reducer.of(type, reduction);
        return (a, aOffset, b, bOffset, out, outOffset, length) -> {
            if (mesh.movesData()) {
                real.combine(a, aOffset, b, bOffset, out, outOffset, length);
            }
            now += length * network.reduceNanosPerByte();
        };
    }

    // Time.

    /// The next call begins.
    void begin() {
        call++;
    }

    /// The number of the call in progress.
    long call() {
        return call;
    }

    /// The call ends when the caller's memory is its own again.
    void end() {
        waitUntil(writesEnd);
    }

    void waitUntil(double time) {
        now = Math.max(now, time);
    }

    /// Takes a message.
    void receive() {
        now += network.receiveNanos();
    }

    void busyWithCopy(int length) {
        now += length * network.copyNanosPerByte();
    }

    /// Sends a header with `length` bytes behind it.
    ///
    /// @return when it arrives
    double send(int length) {
        return post(1, Notice.BYTES + length);
    }

    /// Writes, and sends a header behind it.
    double write(int length) {
        return post(2, Notice.BYTES + length);
    }

    /// The same from memory of the caller.
    double userWrite(int length) {
        double arrives = write(length);
        writesEnd = arrives + network.latencyNanos();
        return arrives;
    }

    /// Sends a notice without a piece.
    double notice() {
        notices++;
        return post(1, Notice.BYTES);
    }

    private double post(int number, int length) {
        requests += number;
        now += number * network.sendNanos();
        linkFree = Math.max(now, linkFree) + length * network.wireNanosPerByte();
        bytes += length;
        return linkFree + network.latencyNanos();
    }

    void countPiece() {
        pieces++;
    }

    // The work that it has done.

    double now() {
        return now;
    }

    long pieces() {
        return pieces;
    }

    long notices() {
        return notices;
    }

    long requests() {
        return requests;
    }

    long bytes() {
        return bytes;
    }

    /// The ranks that it has talked to.
    int peers() {
        return lanes.size();
    }
}
