package io.rdmacomm.cli.bench;

import io.rdmacomm.comm.BufferSlice;
import io.rdmacomm.comm.ChannelBatch;
import io.rdmacomm.comm.RdmaChannel;

/// SENDs with a full window. Small ones share doorbells.
final class SendBandwidth implements Shape {
    private final TestBed bed;
    private final RdmaChannel[] channels;
    private final ChannelBatch[] batches;
    private final BufferSlice source;
    private final int chain;
    private final Tally tally;
    private final Arrivals arrivals;
    private long arrived;

    SendBandwidth(TestBed bed) {
        this.bed = bed;
        this.channels = bed.channels();
        this.chain =
                Math.min(bed.plan().chain(), Math.max(1, channels[0].options().receives() / 2));
        this.batches = Chains.create(channels, chain);
        this.source = bed.sourceSlice(0);
        this.tally = bed.tally();
        this.arrivals = bed.arrivals();
    }

    /// The peer's first message may arrive before this side's part begins: it is counted from here.
    @Override
    public void prepare() {
        arrived = arrivals.count();
    }

    @Override
    public void initiate(int count, long[] readings) {
        long end = tally.done() + count;
        long last = arrived + (bed.plan().bidirectional() ? count : 0);
        readings[0] = System.nanoTime();
        if (chain > 1) {
            postChains(count);
        } else {
            postSingly(count);
        }
        int spins = 0;
        while (tally.done() < end || arrivals.count() < last) {
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
            if (channels[queue].trySend(source, tally, 0)) {
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
            batch.send(source, tally, 0);
        }
    }

    @Override
    public void answer(int count) {
        long end = arrived + count;
        int spins = 0;
        while (arrivals.count() < end) {
            channels[0].poll();
            if ((++spins & LOOK_MASK) == 0) {
                bed.checkAlive();
            }
        }
    }

    @Override
    public String complaint(int count) {
        return arrivals.wrong() == 0 ? "" : arrivals.wrong() + " messages are not what was sent";
    }
}
