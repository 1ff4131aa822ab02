package io.rdmacomm.comm.data;

import io.rdmacomm.verbs.QueuePairOptions;

/// The source of the receives of a new channel.
public sealed interface ReceiveSource permits OwnReceives, SharedReceiveSource {
    /// The options of a queue pair that uses these receives.
    QueuePairOptions of(QueuePairOptions plain);

    /// The number of receives that the peer can rely on from the beginning.
    int atFirst();

    /// The receives of a channel with these parts.
    ///
    /// @throws io.rdmacomm.verbs.RdmaException if there are none for it
    ChannelReceives attach(ChannelParts parts);
}
