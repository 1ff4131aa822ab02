package io.rdmacomm.comm;

import io.rdmacomm.comm.data.Bounds;
import java.time.Duration;

/// The longest waits of a session; each is 1 ms to 24 h, if nothing else is said.
///
/// @param connect for a client to reach a server, name resolution and repeated attempts included
/// @param handshake for each step of setting an endpoint up: a peer that is silent for longer is dropped
/// @param close for closing an endpoint in order; after that it is closed without the peer
/// @param operation for a blocking call or future without a time-out of its own
/// @param silence for the host of a peer to answer: one that does not, because it has crashed or the network is cut, is
///        noticed after this time even if nothing is sent to it, and its endpoint fails; 4 s to 9 h, in whole seconds.
///        A host answers for a process that is stopped.
public record Deadlines(Duration connect, Duration handshake, Duration close, Duration operation, Duration silence) {
    private static final Duration SHORTEST_SILENCE = Duration.ofSeconds(4);
    private static final Duration LONGEST_SILENCE = Duration.ofHours(9);

    /// Checks the ranges.
    public Deadlines {
        Bounds.timeout("connect deadline", connect);
        Bounds.timeout("handshake deadline", handshake);
        Bounds.timeout("close deadline", close);
        Bounds.timeout("operation deadline", operation);
        if (silence.compareTo(SHORTEST_SILENCE) < 0 || silence.compareTo(LONGEST_SILENCE) > 0) {
            throw new IllegalArgumentException("silence deadline is " + silence + ", must be 4 s to 9 h");
        }
    }

    /// 10 s to connect, 5 s for a step of the handshake, 2 s to close, 30 s for an operation, 30 s of silence.
    public static Deadlines defaults() {
        return new Deadlines(
                Duration.ofSeconds(10),
                Duration.ofSeconds(5),
                Duration.ofSeconds(2),
                Duration.ofSeconds(30),
                Duration.ofSeconds(30));
    }

    /// These deadlines with another one for connecting.
    public Deadlines withConnect(Duration value) {
        return new Deadlines(value, handshake, close, operation, silence);
    }

    /// These deadlines with another one for a step of the handshake.
    public Deadlines withHandshake(Duration value) {
        return new Deadlines(connect, value, close, operation, silence);
    }

    /// These deadlines with another one for closing.
    public Deadlines withClose(Duration value) {
        return new Deadlines(connect, handshake, value, operation, silence);
    }

    /// These deadlines with another one for operations.
    public Deadlines withOperation(Duration value) {
        return new Deadlines(connect, handshake, close, value, silence);
    }

    /// These deadlines with another one for the silence of a peer's host.
    public Deadlines withSilence(Duration value) {
        return new Deadlines(connect, handshake, close, operation, value);
    }
}
