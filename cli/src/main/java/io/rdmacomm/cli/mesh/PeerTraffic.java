package io.rdmacomm.cli.mesh;

import io.rdmacomm.cli.bench.trial.DataPattern;
import io.rdmacomm.comm.BufferSlice;
import io.rdmacomm.comm.CompletionHandler;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.RemoteBuffer;
import io.rdmacomm.mesh.Node;
import io.rdmacomm.verbs.WorkStatus;
import org.HdrHistogram.Histogram;

/// The traffic with one other node. Each of the two nodes writes into its own region of the other's inbox. A region
/// has two halves of several blocks each, used in turn: one is written while the other is checked.
///
/// The blocks of a half are written several times, each time shifted by one block. So a write that is lost, or that
/// overtakes another, leaves the wrong block.
///
/// One thread posts; the completions of each channel may come on another thread.
final class PeerTraffic {
    private final Node peer;
    private final int own;
    private final MeshSettings settings;
    private final RdmaBuffer inbox;
    private final RemoteBuffer remote;
    private final BufferSlice[] blocks;
    private final Lane[] lanes;
    private int posted;
    private long transferNanos;

    /// @param own the rank of this node
    /// @param outgoing holds the blocks for each rank
    /// @param inbox has a region for each rank
    /// @param remote the inbox of the other node
    PeerTraffic(Node peer, int own, MeshSettings settings, RdmaBuffer outgoing, RdmaBuffer inbox, RemoteBuffer remote) {
        this.peer = peer;
        this.own = own;
        this.settings = settings;
        this.inbox = inbox;
        this.remote = remote;
        this.blocks = new BufferSlice[settings.depth()];
        this.lanes = new Lane[settings.channels()];
        for (int slot = 0; slot < blocks.length; slot++) {
            blocks[slot] = outgoing.block(peer.rank() * settings.depth() + slot);
        }
        for (int i = 0; i < lanes.length; i++) {
            lanes[i] = new Lane(peer.channel(i), settings.depth());
        }
    }

    /// A channel and the times of its writes.
    private static final class Lane implements CompletionHandler {
        private final RdmaChannel channel;
        private final long[] starts;
        private final Histogram latencies = Latencies.newHistogram();
        private boolean recording;
        private long lastNanos;
        private volatile int completed;

        Lane(RdmaChannel channel, int depth) {
            this.channel = channel;
            this.starts = new long[depth];
        }

        /// Writes a block, if there is room. Stores the time at its place, which is unique among the writes in
        /// flight on this channel.
        boolean write(BufferSlice block, RemoteBuffer to, long offset, int place) {
            starts[place] = System.nanoTime();
            return channel.tryWrite(block, to, offset, this, place).isAccepted();
        }

        @Override
        @SuppressWarnings("NonAtomicVolatileUpdate") // one thread completes the work of a channel
        public void onCompletion(RdmaChannel on, long place, WorkStatus status, long result) {
            if (status == WorkStatus.SUCCESS) {
                lastNanos = System.nanoTime();
                if (recording) {
                    Latencies.record(latencies, lastNanos - starts[(int) place]);
                }
                completed++;
            }
        }
    }

    Node peer() {
        return peer;
    }

    /// Prepares the blocks of an iteration.
    ///
    /// @param recording whether the iteration counts
    void prepare(long iteration, boolean recording) {
        for (int slot = 0; slot < blocks.length; slot++) {
            BufferSlice block = blocks[slot];
            DataPattern.fill(
                    block.buffer().segment().asSlice(block.offset(), block.length()),
                    seed(own, peer.rank(), iteration, slot));
        }
        posted = 0;
        for (Lane lane : lanes) {
            lane.recording = recording;
            lane.completed = 0;
        }
    }

    /// Writes the next block, if there is one and there is room for it. Never blocks.
    ///
    /// @return whether all writes have been posted
    boolean post(long iteration) {
        if (posted < settings.writes()) {
            int slot = posted % blocks.length;
            // The writes to a place stay in order, because all of them use the same channel.
            Lane lane = lanes[slot % lanes.length];
            long offset = own * inbox.blockSize() + place(iteration, slot);
            if (lane.write(blocks[source(slot, posted / blocks.length)], remote, offset, slot)) {
                posted++;
            }
        }
        return posted == settings.writes();
    }

    boolean isComplete() {
        int completed = 0;
        for (Lane lane : lanes) {
            completed += lane.completed;
        }
        return completed == settings.writes();
    }

    /// Counts an iteration that is complete.
    ///
    /// @param begin when it began, as of [System#nanoTime()]
    void count(long begin) {
        long last = begin;
        for (Lane lane : lanes) {
            last = lane.lastNanos - last > 0 ? lane.lastNanos : last;
        }
        transferNanos += last - begin;
    }

    /// Finds the first wrong block among those that the other node has written in an iteration.
    ///
    /// @return what is wrong; empty if nothing is
    String check(long iteration) {
        long region = peer.rank() * inbox.blockSize();
        for (int slot = 0; slot < blocks.length; slot++) {
            long wrong = DataPattern.mismatch(
                    inbox.segment().asSlice(region + place(iteration, slot), settings.blockBytes()),
                    settings.blockBytes(),
                    seed(peer.rank(), own, iteration, source(slot, settings.passes() - 1)));
            if (wrong >= 0) {
                return "block " + slot + " of iteration " + iteration + " that rank " + peer.rank()
                        + " has written here is wrong from byte " + wrong + " on";
            }
        }
        return "";
    }

    /// The block that a pass writes to a place.
    private int source(int slot, int pass) {
        return (slot + pass) % blocks.length;
    }

    private long place(long iteration, int slot) {
        return ((iteration & 1) * settings.depth() + slot) * settings.blockBytes();
    }

    /// Depends on everything that distinguishes blocks.
    private static long seed(int writer, int reader, long iteration, int slot) {
        return ((iteration * Integer.MAX_VALUE + writer) * 1021 + reader) * 65_537 + slot;
    }

    /// All latencies. Call it when all work has ended.
    Histogram latencies() {
        Histogram all = Latencies.newHistogram();
        for (Lane lane : lanes) {
            all.add(lane.latencies);
        }
        return all;
    }

    /// The measurements. Call it when all work has ended.
    PeerResult result() {
        Latencies latencies = Latencies.of(latencies());
        return new PeerResult(peer.rank(), latencies.count() * settings.blockBytes(), transferNanos, latencies);
    }
}
