package io.rdmacomm.comm;

import io.rdmacomm.verbs.AsyncEvent;
import io.rdmacomm.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

/// Receives the events of the endpoints of a session. An exception thrown here is counted, reported to
/// [#onError], and has no other effect.
public interface SessionListener {
    /// The listener that only logs failures.
    SessionListener NONE = new SessionListener() {};

    /// A peer has connected to a server, or a client has reconnected ([SessionOptions#withReconnect]), and
    /// everything is ready to send. Runs on a separate virtual thread and may block: it can serve the peer as
    /// long as it wants.
    ///
    /// [ServerSession#accept] also returns the endpoint of a server, [ClientSession#endPoint] that of a client. A
    /// client's first endpoint is not reported here. A new one is reported when [#onEnd] of the one before has
    /// returned.
    default void onEndPoint(EndPoint endPoint) {}

    /// An endpoint has ended, in an orderly way if `failure` is null. Runs on its own virtual thread, perhaps
    /// after the `close()` of the endpoint or the session has returned. A client that reconnects closes the
    /// endpoint when this returns: messages that have arrived on it can be received until then.
    ///
    /// This default logs a failure as WARNING, so that it is not lost. A listener that overrides it has to log
    /// failures itself.
    default void onEnd(EndPoint endPoint, @Nullable RdmaException failure) {
        if (failure != null) {
            Failures.log(endPoint, failure);
        }
    }

    /// A peer could not be set up, or an attempt of a client to reconnect has failed; others are not affected. Runs
    /// on a virtual thread.
    ///
    /// @param peer the peer's address as text
    default void onRefused(String peer, RdmaException failure) {}

    /// A client has given up reconnecting and gets no new endpoint. Runs on its own virtual thread.
    ///
    /// @param failure contains the number of attempts, with the last failure as its cause
    default void onGiveUp(RdmaException failure) {}

    /// The device of the session has reported an asynchronous event, such as PORT_ERROR. The session has acted on
    /// it: after DEVICE_FATAL all endpoints fail, after COMPLETION_QUEUE_ERROR those that use the queue. Runs on
    /// the session's platform thread for such events, so it must not block for long.
    default void onDeviceEvent(AsyncEvent event) {}

    /// A handler of the user threw. Runs on the polling thread, so it must not block.
    ///
    /// @param where the kind of handler, with the name of its channel
    default void onError(String where, Throwable failure) {}
}
