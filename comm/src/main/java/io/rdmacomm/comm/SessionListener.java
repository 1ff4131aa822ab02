package io.rdmacomm.comm;

import org.jspecify.annotations.Nullable;

/// Receives the events of the endpoints of a session. An exception thrown here is counted, reported to
/// [#onError], and has no other effect.
public interface SessionListener {
    /// The listener that ignores everything.
    SessionListener NONE = new SessionListener() {};

    /// A peer has connected and everything is ready to send. Runs on a virtual thread of its own and may block:
    /// it can serve the peer as long as it wants.
    ///
    /// When a listener other than [#NONE] is given, [ServerSession#accept] also returns the endpoint.
    default void onEndPoint(EndPoint endPoint) {}

    /// An endpoint has ended, in an orderly way if `failure` is null. Runs on its own virtual thread.
    default void onEnd(EndPoint endPoint, @Nullable CommException failure) {}

    /// A peer could not be set up; others are not affected. Runs on the virtual thread of that setup.
    ///
    /// @param peer the peer's address as text
    default void onRefused(String peer, CommException failure) {}

    /// A handler of the user threw. Runs on the polling thread, so it must not block.
    ///
    /// @param where the kind of handler, with the name of its channel
    default void onError(String where, Throwable failure) {}
}
