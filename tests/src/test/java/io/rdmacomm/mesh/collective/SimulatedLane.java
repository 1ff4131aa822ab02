package io.rdmacomm.mesh.collective;

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
        return rank.slotOffset(out.nextSlot());
    }

    @Override
    public void sendClaimed(int bytes) {
        int arrives = rank.send();
        in.report(arrives);
        out.put(arrives, bytes);
        rank.countPiece();
    }

    @Override
    public void sendCopy(Elements from, long offset, int bytes) {
        long to = claim();
        MemorySegment.copy(from.segment(), offset, out.memory, to, bytes);
        sendClaimed(bytes);
    }

    /// A WRITE from memory of the caller is a copy here: its content is kept in the slot until the receiver looks
    /// at it.
    @Override
    public void send(Elements from, long offset, int bytes) {
        sendCopy(from, offset, bytes);
    }

    @Override
    public void sendEmpty() {
        var _ = claim();
        sendClaimed(0);
    }

    @Override
    public void sendToTarget(Elements from, long offset, int bytes, long targetOffset) {
        if (bytes > rank.messageBytes() && rank.isRegistered()) {
            rank.waitUntil(out.awaitReady(rank.call()));
        }
        sendCopy(from, offset, bytes);
    }

    @Override
    public void sendReady(Elements target) {
        if (rank.isRegistered() && target.bytes() > rank.messageBytes()) {
            int arrives = rank.send();
            in.report(arrives);
            in.ready(rank.call(), arrives);
        }
    }

    @Override
    public void await(int bytes) {
        rank.waitUntil(in.awaitPiece(bytes));
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
            in.report(rank.send());
        }
    }

    @Override
    public void receive(Elements into, long offset, int bytes) {
        await(bytes);
        MemorySegment.copy(data(), dataOffset(), into.segment(), offset, bytes);
        release();
    }

    @Override
    public void receiveEmpty() {
        await(0);
        release();
    }
}
