package io.rdmacomm.cli.bench;

import io.rdmacomm.comm.BufferSlice;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.RemoteBuffer;

/// READ, from the post to its completion. The peer has no part in it.
final class ReadLatency implements Shape {
    private final TestBed bed;
    private final RdmaChannel channel;
    private final BufferSlice target;
    private final RemoteBuffer remote;
    private final Tally tally;

    ReadLatency(TestBed bed) {
        this.bed = bed;
        this.channel = bed.channel(0);
        this.target = bed.targetSlice(0);
        this.remote = bed.remoteSource();
        this.tally = bed.tally();
    }

    @Override
    public void initiate(int count, long[] readings) {
        long done = tally.done();
        readings[0] = System.nanoTime();
        for (int i = 0; i < count; i++) {
            while (!channel.tryRead(target, remote, 0, tally, 0)) {
                channel.poll();
            }
            await(done + i);
            readings[i + 1] = System.nanoTime();
        }
    }

    private void await(long before) {
        int spins = 0;
        while (tally.done() == before) {
            channel.poll();
            if ((++spins & LOOK_MASK) == 0) {
                bed.checkAlive();
            }
        }
    }

    @Override
    public void answer(int count) {}

    @Override
    public String complaint(int count) {
        return TargetCheck.complaint(bed, 1, bed.plan().bytes());
    }
}
