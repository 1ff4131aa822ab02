package io.rdmacomm.cli.bench;

import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.RemoteBuffer;
import java.lang.foreign.ValueLayout;

/// Fetch-and-add of 1, from the post to its completion. The peer has no part in it; afterwards its word must
/// have counted every operation, and every operation must have seen the one before.
final class AtomicLatency implements Shape {
    private final TestBed bed;
    private final RdmaChannel channel;
    private final RemoteBuffer remote;
    private final Tally tally;
    private long wrong;
    private boolean answered;

    AtomicLatency(TestBed bed) {
        this.bed = bed;
        this.channel = bed.channel(0);
        this.remote = bed.remoteTarget();
        this.tally = bed.tally();
    }

    @Override
    public void prepare() {
        bed.target().segment().set(ValueLayout.JAVA_LONG, 0, 0);
    }

    @Override
    public void initiate(int count, long[] readings) {
        long done = tally.done();
        readings[0] = System.nanoTime();
        for (int i = 0; i < count; i++) {
            while (!channel.tryFetchAndAdd(remote, 0, 1, tally, 0)) {
                channel.poll();
            }
            await(done + i);
            if (tally.result() != i) {
                wrong++;
            }
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
    public void answer(int count) {
        answered = true;
    }

    @Override
    public String complaint(int count) {
        if (wrong > 0) {
            return wrong + " fetch-and-adds did not return what the one before left";
        }
        // The side that answered looks at its word; the other one has looked at every result.
        long value = bed.target().segment().get(ValueLayout.JAVA_LONG, 0);
        return !answered || value == count ? "" : "the word at the target counted " + value + " of " + count;
    }
}
