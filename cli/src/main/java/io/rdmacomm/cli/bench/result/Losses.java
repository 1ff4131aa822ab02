package io.rdmacomm.cli.bench.result;

import java.util.Map;

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

    /// Adds the numbers to a JSON object.
    void addTo(Map<String, Object> members) {
        members.put("sent", sent);
        members.put("received", received);
        members.put("lost", lost());
    }

    @Override
    public String toString() {
        return "sent " + sent + ", received " + received + ", lost " + lost();
    }
}
