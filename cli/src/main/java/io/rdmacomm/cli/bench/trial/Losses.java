package io.rdmacomm.cli.bench.trial;

/// The messages of a measurement over a transport that can lose them.
///
/// @param sent by both sides
/// @param received by both sides
record Losses(long sent, long received) {
    /// No message.
    static final Losses NONE = new Losses(0, 0);

    /// The messages of both measurements.
    Losses plus(Losses other) {
        return new Losses(sent + other.sent, received + other.received);
    }

    long lost() {
        return sent - received;
    }
}
