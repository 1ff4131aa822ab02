package io.rdmacomm.comm;

import io.rdmacomm.verbs.RdmaException;

import org.jspecify.annotations.Nullable;

/// The events of its channels, for an endpoint. On any thread; does not block.
interface EndPointEvents {
    /// The peer should be asked to give back receives of data channel `index` that it does not use. On any thread.
    void onRecall(int index);

    /// The peer asks for receives of data channel `index` that this side does not use.
    void onCreditsWanted(int index);

    /// The peer gives back `count` receives of data channel `index`.
    void onCreditsReturned(int index, int count);

    /// A channel cannot be used any more, or the peer has violated the protocol.
    void onFailed(RdmaException why);

    /// The peer has ended its operations and starts no more.
    void onPeerDone();

    /// A handler of the user threw.
    ///
    /// @param channel the name of its channel
    void onHandlerError(String channel, Throwable thrown);

    /// Why the endpoint has failed: what [#onFailed] was told first by any channel, or something else. Null if
    /// it has not.
    @Nullable
    RdmaException failure();
}
