package io.rdmacomm.comm;

import org.jspecify.annotations.Nullable;

/// The events of its channels, for an endpoint. On any thread; does not block.
interface EndPointEvents {
    /// A channel cannot be used any more, or the peer has violated the protocol.
    void onFailed(CommException why);

    /// The peer has ended its operations and starts no more.
    void onPeerDone();

    /// A handler of the user threw.
    void onHandlerError(RdmaChannel channel, Throwable thrown);

    /// Why the endpoint has failed: what [#onFailed] was told first by any channel, or something else. Null if
    /// it has not.
    @Nullable
    CommException failure();
}
