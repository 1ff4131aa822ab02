package io.rdmacomm.cli.bench.trial;

import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.RemoteBuffer;
import java.lang.foreign.ValueLayout;

/// Fetch-and-adds of 1, one at a time, from post to completion. The peer takes no part. Its word must count every
/// operation, and every operation must return the value that the previous one left.
final class AtomicLatency implements Workload {
    private final TestBed bed;
    private final RdmaChannel channel;
    private final RemoteBuffer remote;
    private final CompletionCounter completions;
    private long wrongResults;
    private boolean isTarget;

    AtomicLatency(TestBed bed) {
        this.bed = bed;
        this.channel = bed.channel(0);
        this.remote = bed.remoteTarget();
        this.completions = bed.completions();
    }

    @Override
    public void prepare() {
        bed.target().segment().set(ValueLayout.JAVA_LONG, 0, 0);
    }

    @Override
    public void initiate(int count, Readings readings) {
        long completed = completions.count();
        readings.begin();
        for (int i = 0; i < count; i++) {
            while (!channel.tryFetchAndAdd(remote, 0, 1, completions, 0).isAccepted()) {
                channel.checkOpen();
                channel.poll();
            }
            bed.await(completed + i + 1, 0);
            if (completions.lastResult() != i) {
                wrongResults++;
            }
            readings.lap();
        }
        readings.end();
    }

    @Override
    public void answer(int count) {
        isTarget = true;
    }

    /// The initiator checks the results, and the target checks its word.
    @Override
    public String findCorruption(int count) {
        if (wrongResults > 0) {
            return wrongResults + " fetch-and-adds did not return the value that the previous one left";
        }
        long value = bed.target().segment().get(ValueLayout.JAVA_LONG, 0);
        return !isTarget || value == count ? "" : "the word at the target counted " + value + " of " + count;
    }
}
