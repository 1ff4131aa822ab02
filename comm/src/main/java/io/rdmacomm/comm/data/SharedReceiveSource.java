package io.rdmacomm.comm.data;

import io.rdmacomm.verbs.QueuePairOptions;

/// Receives from a pool, for a channel that may have `most` of them at a time.
///
/// @param pool the pool
/// @param most the number of receives
record SharedReceiveSource(SharedReceivePool pool, int most) implements ReceiveSource {
    @Override
    public QueuePairOptions of(QueuePairOptions plain) {
        return plain.withSharedReceives(pool.queue());
    }

    @Override
    public int atFirst() {
        return pool.guaranteed();
    }

    @Override
    public ChannelReceives attach(ChannelParts parts) {
        return pool.admit(most, parts);
    }
}
