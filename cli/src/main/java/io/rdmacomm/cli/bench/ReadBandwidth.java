package io.rdmacomm.cli.bench;

import io.rdmacomm.comm.BufferSlice;
import io.rdmacomm.comm.ChannelBatch;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.RemoteBuffer;

/// READs with a full window. Small ones share doorbells.
final class ReadBandwidth implements Shape {
    private final TestBed bed;
    private final RdmaChannel[] channels;
    private final ChannelBatch[] batches;
    private final BufferSlice target;
    private final RemoteBuffer remote;
    private final int chain;
    private final Tally tally;

    ReadBandwidth(TestBed bed) {
        this.bed = bed;
        this.channels = bed.channels();
        this.chain = bed.plan().chain();
        this.batches = Chains.create(channels, chain);
        this.target = bed.targetSlice(0);
        this.remote = bed.remoteSource();
        this.tally = bed.tally();
    }

    @Override
    public void initiate(int count, long[] readings) {
        long end = tally.done() + count;
        readings[0] = System.nanoTime();
        if (chain > 1) {
            postChains(count);
        } else {
            postSingly(count);
        }
        int spins = 0;
        while (tally.done() < end) {
            channels[0].poll();
            if ((++spins & LOOK_MASK) == 0) {
                bed.checkAlive();
            }
        }
        readings[1] = System.nanoTime();
    }

    private void postSingly(int count) {
        int posted = 0;
        int queue = 0;
        int spins = 0;
        while (posted < count) {
            if (channels[queue].tryRead(target, remote, 0, tally, 0)) {
                posted++;
            } else {
                channels[queue].poll();
                if ((++spins & LOOK_MASK) == 0) {
                    bed.checkAlive();
                }
            }
            queue = queue + 1 == channels.length ? 0 : queue + 1;
        }
    }

    private void postChains(int count) {
        int posted = 0;
        int queue = 0;
        int spins = 0;
        while (posted < count) {
            ChannelBatch batch = batches[queue];
            if (batch.size() == 0) {
                fill(batch, Math.min(chain, count - posted));
            }
            int size = batch.size();
            if (batch.tryPost()) {
                posted += size;
                queue = queue + 1 == channels.length ? 0 : queue + 1;
            } else {
                channels[queue].poll();
                if ((++spins & LOOK_MASK) == 0) {
                    bed.checkAlive();
                }
            }
        }
    }

    private void fill(ChannelBatch batch, int size) {
        for (int i = 0; i < size; i++) {
            batch.read(target, remote, 0, tally, 0);
        }
    }

    @Override
    public void answer(int count) {}

    @Override
    public String complaint(int count) {
        return TargetCheck.complaint(bed, 1, bed.plan().bytes());
    }
}
