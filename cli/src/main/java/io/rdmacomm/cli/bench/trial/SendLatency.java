package io.rdmacomm.cli.bench.trial;

import io.rdmacomm.comm.BufferSlice;
import io.rdmacomm.comm.RdmaChannel;

/// SENDs back and forth.
final class SendLatency implements Workload {
    private final TestBed bed;
    private final RdmaChannel channel;
    private final BufferSlice source;
    private final CompletionCounter completions;
    private final MessageCounter messages;
    private long received;

    SendLatency(TestBed bed) {
        this.bed = bed;
        this.channel = bed.channel(0);
        this.source = bed.sourceSlice(0);
        this.completions = bed.completions();
        this.messages = bed.messages();
    }

    /// The peer's first message may arrive before [#initiate] or [#answer] starts, so the count starts here.
    @Override
    public void prepare() {
        received = messages.count();
    }

    @Override
    public void initiate(int count, Readings readings) {
        long end = completions.count() + channel.inFlight() + count;
        readings.begin();
        for (int i = 1; i <= count; i++) {
            send();
            bed.await(0, received + i);
            readings.lap();
        }
        readings.end();
        bed.await(end, 0);
    }

    @Override
    public void answer(int count) {
        long end = completions.count() + channel.inFlight() + count;
        for (int i = 1; i <= count; i++) {
            bed.await(0, received + i);
            send();
        }
        bed.await(end, 0);
    }

    private void send() {
        int spins = 0;
        while (!channel.trySend(source, completions, 0).isAccepted()) {
            channel.checkOpen();
            channel.poll();
            if ((++spins & ClockCost.CHECK_MASK) == 0) {
                bed.checkAlive();
            }
        }
    }

    @Override
    public String findCorruption(int count) {
        return messages.findCorruption();
    }
}
