package io.rdmacomm.cli.bench.trial;

import io.rdmacomm.comm.BufferSlice;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.RemoteBuffer;

/// READs, one at a time, from post to completion. The peer takes no part.
final class ReadLatency implements Workload {
    private final TestBed bed;
    private final RdmaChannel channel;
    private final BufferSlice target;
    private final RemoteBuffer remote;
    private final CompletionCounter completions;

    ReadLatency(TestBed bed) {
        this.bed = bed;
        this.channel = bed.channel(0);
        this.target = bed.targetSlice(0);
        this.remote = bed.remoteSource();
        this.completions = bed.completions();
    }

    @Override
    public void initiate(int count, Readings readings) {
        long completed = completions.count();
        readings.begin();
        for (int i = 1; i <= count; i++) {
            while (!channel.tryRead(target, remote, 0, completions, 0).isAccepted()) {
                channel.checkOpen();
                channel.poll();
            }
            bed.await(completed + i, 0);
            readings.lap();
        }
        readings.end();
    }

    @Override
    public String findCorruption(int count) {
        return bed.findCorruption(1, bed.plan().bytes());
    }
}
