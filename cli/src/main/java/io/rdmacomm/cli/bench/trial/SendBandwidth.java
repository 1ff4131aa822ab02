package io.rdmacomm.cli.bench.trial;

import io.rdmacomm.comm.BufferSlice;
import io.rdmacomm.comm.ChannelBatch;

/// SENDs with a full send window.
final class SendBandwidth implements Workload {
    private final TestBed bed;
    private final BandwidthLoop loop;
    private final BufferSlice source;
    private final CompletionCounter completions;
    private final MessageCounter messages;
    private long received;

    SendBandwidth(TestBed bed) {
        this.bed = bed;
        // A chain waits until the peer has a receive for each of its messages.
        int receives = bed.channel(0).options().receives();
        this.loop =
                new BandwidthLoop(bed, Math.clamp(receives / 2, 1, bed.plan().chainLength()), this::fill);
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
        loop.run(count, bed.plan().bidirectional() ? received + count : 0, readings);
    }

    private void fill(ChannelBatch chain, int count) {
        for (int i = 0; i < count; i++) {
            chain.send(source, completions, 0);
        }
    }

    @Override
    public void answer(int count) {
        bed.await(0, received + count);
    }

    @Override
    public String findCorruption(int count) {
        return messages.findCorruption();
    }
}
