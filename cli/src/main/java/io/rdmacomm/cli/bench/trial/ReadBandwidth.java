package io.rdmacomm.cli.bench.trial;

import io.rdmacomm.comm.BufferSlice;
import io.rdmacomm.comm.ChannelBatch;
import io.rdmacomm.comm.RemoteBuffer;

/// READs with a full send window, from one buffer into one buffer.
final class ReadBandwidth implements Workload {
    private final TestBed bed;
    private final BandwidthLoop loop;
    private final BufferSlice target;
    private final RemoteBuffer remote;
    private final CompletionCounter completions;

    ReadBandwidth(TestBed bed) {
        this.bed = bed;
        this.loop = new BandwidthLoop(bed, bed.plan().chainLength(), this::fill);
        this.target = bed.targetSlice(0);
        this.remote = bed.remoteSource();
        this.completions = bed.completions();
    }

    @Override
    public void initiate(int count, Readings readings) {
        loop.run(count, 0, readings);
    }

    private void fill(ChannelBatch chain, int count) {
        for (int i = 0; i < count; i++) {
            chain.read(target, remote, 0, completions, 0);
        }
    }

    @Override
    public String findCorruption(int count) {
        return bed.findCorruption(1, bed.plan().bytes());
    }
}
