package io.rdmacomm.cli.bench.trial;

import io.rdmacomm.comm.BufferSlice;
import io.rdmacomm.comm.ChannelBatch;
import io.rdmacomm.comm.RemoteBuffer;

/// WRITEs with a full send window, from one buffer to one buffer or around two rings of buffers.
final class WriteBandwidth implements Workload {
    private final TestBed bed;
    private final BandwidthLoop loop;
    private final BufferSlice[] sources;
    private final RemoteBuffer remote;
    private final long stride;
    private final CompletionCounter completions;
    private int buffer;

    WriteBandwidth(TestBed bed) {
        this.bed = bed;
        this.loop = new BandwidthLoop(bed, bed.plan().chainLength(), this::fill);
        this.sources = new BufferSlice[bed.plan().buffers()];
        for (int i = 0; i < sources.length; i++) {
            sources[i] = bed.sourceSlice(i);
        }
        this.remote = bed.remoteTarget();
        this.stride = bed.plan().stride();
        this.completions = bed.completions();
    }

    @Override
    public void prepare() {
        buffer = 0;
    }

    @Override
    public void initiate(int count, Readings readings) {
        loop.run(count, 0, readings);
    }

    private void fill(ChannelBatch chain, int count) {
        for (int i = 0; i < count; i++) {
            chain.write(sources[buffer], remote, buffer * stride, completions, 0);
            buffer = buffer + 1 == sources.length ? 0 : buffer + 1;
        }
    }

    @Override
    public String findCorruption(int count) {
        return bed.findCorruption(Math.min(count, sources.length), bed.plan().bytes());
    }
}
