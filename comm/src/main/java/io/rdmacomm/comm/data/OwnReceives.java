package io.rdmacomm.comm.data;

import io.rdmacomm.verbs.QueuePairOptions;
import java.lang.foreign.Arena;

/// Receives that belong to one channel alone.
///
/// @param count the number of receives
/// @param memory for messages
/// @param arena for work requests; lives as long as the channel
public record OwnReceives(int count, ReceiveMemory memory, Arena arena) implements ReceiveSource {
    @Override
    public QueuePairOptions of(QueuePairOptions plain) {
        return plain.withSizes(plain.sizes().withDepth(plain.sizes().sends(), count));
    }

    @Override
    public int atFirst() {
        return count;
    }

    @Override
    public ChannelReceives attach(ChannelParts parts) {
        return new ReceivePool(parts, this);
    }
}
