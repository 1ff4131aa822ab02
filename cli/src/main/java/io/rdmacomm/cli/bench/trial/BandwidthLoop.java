package io.rdmacomm.cli.bench.trial;

import io.rdmacomm.comm.ChannelBatch;
import io.rdmacomm.comm.RdmaChannel;

/// The loop of every bandwidth test: posts chains of operations to all channels in turn, and keeps their send
/// windows full. Each test adds its own operations, and fills a whole chain in one call: the compiler cannot
/// inline that call, so there is one per chain and not one per operation.
final class BandwidthLoop {
    private final TestBed bed;
    private final RdmaChannel[] channels;
    private final ChannelBatch[] chains;
    private final int chainLength;
    private final ChainFiller filler;

    /// Fills chains with the next operations of a test.
    interface ChainFiller {
        /// Adds `count` operations to `chain`, which is empty.
        void fill(ChannelBatch chain, int count);
    }

    BandwidthLoop(TestBed bed, int chainLength, ChainFiller filler) {
        this.bed = bed;
        this.channels = bed.channels();
        this.chains = new ChannelBatch[channels.length];
        for (int i = 0; i < chains.length; i++) {
            chains[i] = channels[i].batch(chainLength);
        }
        this.chainLength = chainLength;
        this.filler = filler;
    }

    /// Posts `count` operations, and waits until all have completed and `messages` messages in total have arrived
    /// on this side.
    void run(int count, long messages, Readings readings) {
        long completions = bed.completions().count() + count;
        readings.begin();
        post(count);
        bed.await(completions, messages);
        readings.end();
    }

    private void post(int count) {
        int posted = 0;
        int next = 0;
        int spins = 0;
        while (posted < count) {
            ChannelBatch chain = chains[next];
            if (chain.size() == 0) {
                filler.fill(chain, Math.min(chainLength, count - posted));
            }
            int size = chain.size();
            if (chain.tryPost().isAccepted()) {
                posted += size;
                next = next + 1 == chains.length ? 0 : next + 1;
            } else {
                channels[next].checkOpen();
                channels[next].poll();
                if ((++spins & ClockCost.CHECK_MASK) == 0) {
                    bed.checkAlive();
                }
            }
        }
    }
}
