package io.rdmacomm.cli.bench;

import io.rdmacomm.comm.BufferSlice;
import io.rdmacomm.comm.ChannelBatch;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.RemoteBuffer;

/// WRITEs with a full window: from one buffer to one, or from the next of a ring to the next of a ring. Small
/// ones share doorbells.
final class WriteBandwidth implements Shape {
    private final TestBed bed;
    private final RdmaChannel[] channels;
    private final ChannelBatch[] batches;
    private final BufferSlice[] sources;
    private final RemoteBuffer remote;
    private final long stride;
    private final int chain;
    private final Tally tally;
    private int buffer;

    WriteBandwidth(TestBed bed) {
        this.bed = bed;
        this.channels = bed.channels();
        this.chain = bed.plan().chain();
        this.batches = Chains.create(channels, chain);
        this.sources = new BufferSlice[bed.plan().buffers()];
        for (int i = 0; i < sources.length; i++) {
            sources[i] = bed.sourceSlice(i);
        }
        this.remote = bed.remoteTarget();
        this.stride = bed.plan().stride();
        this.tally = bed.tally();
    }

    @Override
    public void prepare() {
        buffer = 0;
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
            if (channels[queue].tryWrite(sources[buffer], remote, buffer * stride, tally, 0)) {
                posted++;
                advance();
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
            batch.write(sources[buffer], remote, buffer * stride, tally, 0);
            advance();
        }
    }

    private void advance() {
        buffer = buffer + 1 == sources.length ? 0 : buffer + 1;
    }

    @Override
    public void answer(int count) {}

    @Override
    public String complaint(int count) {
        return TargetCheck.complaint(
                bed, Math.min(count, bed.plan().buffers()), bed.plan().bytes());
    }
}
