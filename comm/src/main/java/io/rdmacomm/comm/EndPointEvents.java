package io.rdmacomm.comm;

import io.rdmacomm.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

/// The events of an endpoint's channels. Called on any thread; must not block.
interface EndPointEvents {
    /// The peer should be asked to return unused receives of data channel `index`.
    void onRecall(int index);

    /// The peer asks this side to return unused receives of data channel `index`.
    void onCreditsWanted(int index);

    /// The peer returns `count` receives of data channel `index`.
    void onCreditsReturned(int index, int count);

    /// A channel can no longer be used, or the peer has violated the protocol.
    void onFailed(RdmaException why);

    /// The peer has ended its operations and starts no more.
    void onPeerDone();

    /// A handler of the user threw.
    ///
    /// @param channel the name of its channel
    void onHandlerError(String channel, Throwable thrown);

    /// Why the endpoint has failed: the first failure of a channel, or another reason; null if it has not.
    @Nullable
    RdmaException failure();
}
