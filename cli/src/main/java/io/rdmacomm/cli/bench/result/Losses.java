package io.rdmacomm.cli.bench.result;

/// The messages of a measurement over a transport that can lose them.
///
/// @param sent by both sides
/// @param received by both sides
public record Losses(long sent, long received) {
    /// No message.
    public static final Losses NONE = new Losses(0, 0);

    /// The messages of both measurements.
    public Losses plus(Losses other) {
        return new Losses(sent + other.sent, received + other.received);
    }

    long lost() {
        return sent - received;
    }
}
