package io.rdmacomm.cli.bench;

import io.rdmacomm.comm.BufferSlice;
import io.rdmacomm.comm.RdmaChannel;

/// SEND there and back.
final class SendLatency implements Shape {
    private final TestBed bed;
    private final RdmaChannel channel;
    private final BufferSlice source;
    private final Tally tally;
    private final Arrivals arrivals;
    private long arrived;

    SendLatency(TestBed bed) {
        this.bed = bed;
        this.channel = bed.channel(0);
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
        long end = tally.done() + channel.inFlight() + count;
        readings[0] = System.nanoTime();
        for (int i = 0; i < count; i++) {
            send();
            await(arrived + i);
            readings[i + 1] = System.nanoTime();
        }
        collect(end);
    }

    @Override
    public void answer(int count) {
        long end = tally.done() + channel.inFlight() + count;
        for (int i = 0; i < count; i++) {
            await(arrived + i);
            send();
        }
        collect(end);
    }

    private void send() {
        int spins = 0;
        while (!channel.trySend(source, tally, 0)) {
            channel.poll();
            if ((++spins & LOOK_MASK) == 0) {
                bed.checkAlive();
            }
        }
    }

    private void await(long before) {
        int spins = 0;
        while (arrivals.count() == before) {
            channel.poll();
            if ((++spins & LOOK_MASK) == 0) {
                bed.checkAlive();
            }
        }
    }

    private void collect(long end) {
        int spins = 0;
        while (tally.done() < end) {
            channel.poll();
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
