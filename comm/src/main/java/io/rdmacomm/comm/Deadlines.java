package io.rdmacomm.comm;

import io.rdmacomm.comm.data.Bounds;
import java.time.Duration;

/// The longest waits of a session; each is 1 ms to 24 h.
///
/// @param connect for a client to reach a server, name resolution and repeated attempts included
/// @param handshake for each step of setting an endpoint up: a peer that is silent for longer is dropped
/// @param close for closing an endpoint in order; after that it is closed without the peer
/// @param operation for a blocking call or future without a time-out of its own
public record Deadlines(Duration connect, Duration handshake, Duration close, Duration operation) {
    /// Checks the ranges.
    public Deadlines {
        Bounds.timeout("connect deadline", connect);
        Bounds.timeout("handshake deadline", handshake);
        Bounds.timeout("close deadline", close);
        Bounds.timeout("operation deadline", operation);
    }

    /// 10 s to connect, 5 s for a step of the handshake, 2 s to close, 30 s for an operation.
    public static Deadlines defaults() {
        return new Deadlines(
                Duration.ofSeconds(10), Duration.ofSeconds(5), Duration.ofSeconds(2), Duration.ofSeconds(30));
    }

    /// These deadlines with another one for connecting.
    public Deadlines withConnect(Duration value) {
        return new Deadlines(value, handshake, close, operation);
    }

    /// These deadlines with another one for a step of the handshake.
    public Deadlines withHandshake(Duration value) {
        return new Deadlines(connect, value, close, operation);
    }

    /// These deadlines with another one for closing.
    public Deadlines withClose(Duration value) {
        return new Deadlines(connect, handshake, value, operation);
    }

    /// These deadlines with another one for operations.
    public Deadlines withOperation(Duration value) {
        return new Deadlines(connect, handshake, close, value);
    }
}
