package io.rdmacomm.comm.mesh;

import java.lang.foreign.MemorySegment;

/// A lane on the simulated network. It follows the protocol of [ChannelLane], notice for notice.
final class SimulatedLane implements Lane {
    private final SimulatedRank rank;
    private final SimulatedFlow out;
    private final SimulatedFlow in;

    SimulatedLane(SimulatedRank rank, SimulatedFlow out, SimulatedFlow in) {
        this.rank = rank;
        this.out = out;
        this.in = in;
    }

    @Override
    public MemorySegment room() {
        return out.memory;
    }

    @Override
    public long claim() {
        out.awaitSlot();
        rank.waitUntil(out.nextSlotReturned());
        if (out.nextSlotNoticed()) {
            rank.receive();
        }
        return rank.slotOffset(out.nextSlot());
    }

    @Override
    public void sendClaimed(int bytes) {
        boolean written = bytes > rank.messageBytes();
        put(bytes, written ? rank.write(bytes) : rank.send(bytes), false);
    }

    private void put(int bytes, double arrives, boolean inTarget) {
        in.report(arrives, false);
        out.put(arrives, bytes, inTarget);
        rank.countPiece();
    }

    @Override
    public void sendCopy(Elements from, long offset, int bytes) {
        long to = claim();
        rank.copy(from.segment(), offset, out.memory, to, bytes);
        rank.busyWithCopy(bytes);
        sendClaimed(bytes);
    }

    @Override
    public void send(Elements from, long offset, int bytes) {
        if (bytes <= rank.messageBytes() || !rank.isRegistered()) {
            sendCopy(from, offset, bytes);
            return;
        }
        write(from, offset, bytes, false);
    }

    /// From the caller's memory. Its content is kept in the slot until the receiver looks at it.
    private void write(Elements from, long offset, int bytes, boolean inTarget) {
        long to = claim();
        rank.copy(from.segment(), offset, out.memory, to, bytes);
        put(bytes, rank.userWrite(bytes), inTarget);
    }

    @Override
    public void sendEmpty() {
        var _ = claim();
        sendClaimed(0);
    }

    @Override
    public void sendToTarget(Elements from, long offset, int bytes, MeshBuffers buffers, long targetOffset) {
        if (bytes <= rank.messageBytes() || !rank.isRegistered()) {
            sendCopy(from, offset, bytes);
            return;
        }
        rank.waitUntil(out.awaitReady(rank.call()));
        write(from, offset, bytes, true);
    }

    @Override
    public void sendReady(Elements target) {
        if (rank.isRegistered() && target.bytes() > rank.messageBytes()) {
            double arrives = rank.notice();
            in.report(arrives, false);
            in.ready(rank.call(), arrives);
        }
    }

    @Override
    public void await(int bytes) {
        rank.waitUntil(in.awaitPiece(bytes));
        rank.receive();
    }

    @Override
    public MemorySegment data() {
        return in.memory;
    }

    @Override
    public long dataOffset() {
        return rank.slotOffset(in.firstSlot());
    }

    @Override
    public void release() {
        if (in.take() >= Math.max(1, rank.slots() / 2)) {
            in.report(rank.notice(), true);
        }
    }

    @Override
    public void receive(Elements into, long offset, int bytes) {
        await(bytes);
        rank.copy(data(), dataOffset(), into.segment(), offset, bytes);
        if (!in.firstInTarget()) {
            rank.busyWithCopy(bytes);
        }
        release();
    }

    @Override
    public void receiveEmpty() {
        await(0);
        release();
    }
}
