package io.rdmacomm.comm;

import io.rdmacomm.comm.data.Bounds;
import java.time.Duration;

/// The longest waits of a session. Immutable. Each is 1 ms to 24 h unless stated otherwise.
public final class Deadlines extends ValueObject<Deadlines.Values> {
    private static final Duration SHORTEST_SILENCE = Duration.ofSeconds(4);
    private static final Duration LONGEST_SILENCE = Duration.ofHours(9);
    private static final Deadlines DEFAULTS = new Deadlines(new Values(
            Duration.ofSeconds(10),
            Duration.ofSeconds(5),
            Duration.ofSeconds(2),
            Duration.ofSeconds(30),
            Duration.ofSeconds(30)));

    record Values(Duration connect, Duration handshake, Duration close, Duration operation, Duration silence) {}

    private Deadlines(Values values) {
        super(values);
    }

    /// 10 s to connect, 5 s for a step of the handshake, 2 s to close, 30 s for an operation, 30 s of silence.
    public static Deadlines defaults() {
        return DEFAULTS;
    }

    /// The time for a client to reach a server, including name resolution and repeated attempts.
    public Duration connect() {
        return values.connect;
    }

    /// The time for each step of the handshake. A peer that is silent for longer is dropped.
    public Duration handshake() {
        return values.handshake;
    }

    /// The time for the orderly close of an endpoint. After that, it is closed without waiting for the peer.
    public Duration close() {
        return values.close;
    }

    /// The timeout of blocking calls and futures that specify none.
    public Duration operation() {
        return values.operation;
    }

    /// The time for the host of a peer to answer keep-alive probes. If the host has crashed or the network is cut,
    /// the endpoint fails after this time, even if nothing is sent. If only the peer's process is stopped, its host
    /// still answers.
    public Duration silence() {
        return values.silence;
    }

    /// These deadlines with another one for connecting.
    ///
    /// @throws IllegalArgumentException if it is out of its range
    public Deadlines withConnect(Duration value) {
        Bounds.timeout("connect deadline", value);
        return new Deadlines(new Values(value, values.handshake, values.close, values.operation, values.silence));
    }

    /// These deadlines with another one for a step of the handshake.
    ///
    /// @throws IllegalArgumentException if it is out of its range
    public Deadlines withHandshake(Duration value) {
        Bounds.timeout("handshake deadline", value);
        return new Deadlines(new Values(values.connect, value, values.close, values.operation, values.silence));
    }

    /// These deadlines with another one for closing.
    ///
    /// @throws IllegalArgumentException if it is out of its range
    public Deadlines withClose(Duration value) {
        Bounds.timeout("close deadline", value);
        return new Deadlines(new Values(values.connect, values.handshake, value, values.operation, values.silence));
    }

    /// These deadlines with another one for operations.
    ///
    /// @throws IllegalArgumentException if it is out of its range
    public Deadlines withOperation(Duration value) {
        Bounds.timeout("operation deadline", value);
        return new Deadlines(new Values(values.connect, values.handshake, values.close, value, values.silence));
    }

    /// These deadlines with another one for the silence of a peer's host.
    ///
    /// @param value 4 s to 9 h, in whole seconds
    /// @throws IllegalArgumentException if it is out of its range
    public Deadlines withSilence(Duration value) {
        if (value.compareTo(SHORTEST_SILENCE) < 0 || value.compareTo(LONGEST_SILENCE) > 0) {
            throw new IllegalArgumentException("silence deadline is " + value + ", must be 4 s to 9 h");
        }
        return new Deadlines(new Values(values.connect, values.handshake, values.close, values.operation, value));
    }
}
