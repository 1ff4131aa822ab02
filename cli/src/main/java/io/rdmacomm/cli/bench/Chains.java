package io.rdmacomm.cli.bench;

import io.rdmacomm.comm.ChannelBatch;
import io.rdmacomm.comm.RdmaChannel;

/// Room for chains of operations, one on each channel.
final class Chains {
    private Chains() {}

    /// One batch for each channel; none when operations are not chained.
    static ChannelBatch[] create(RdmaChannel[] channels, int chain) {
        ChannelBatch[] batches = new ChannelBatch[chain > 1 ? channels.length : 0];
        for (int i = 0; i < batches.length; i++) {
            batches[i] = channels[i].batch(chain);
        }
        return batches;
    }
}
