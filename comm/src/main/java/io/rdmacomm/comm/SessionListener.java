package io.rdmacomm.comm;

import org.jspecify.annotations.Nullable;

/// Receives the events of the end points of a session. An exception thrown here is counted, reported to
/// [#onError], and has no other effect.
public interface SessionListener {
    /// The listener that ignores everything.
    SessionListener NONE = new SessionListener() {};

    /// A peer has connected and everything is ready to send. Runs on a virtual thread of its own and may block:
    /// it can serve the peer as long as it wants.
    ///
    /// When a listener other than [#NONE] is given, [ServerSession#accept] still returns the end point too.
    default void onEndPoint(EndPoint endPoint) {}

    /// An end point has ended: in order when `failure` is null. Runs on a virtual thread of its own.
    default void onEnd(EndPoint endPoint, @Nullable CommException failure) {}

    /// A peer could not be set up; all others are unaffected. Runs on the virtual thread of that set-up.
    ///
    /// @param peer the peer's address as text
    default void onRefused(String peer, CommException failure) {}

    /// A handler of the user threw. Runs on the polling thread, so it must not block.
    ///
    /// @param where what was running, with the name of its channel
    default void onError(String where, Throwable failure) {}
}
