package io.rdmacomm.comm.setup;

/// A protocol whose two sides greet each other with a [Greeting].
public enum Protocol {
    /// Between the two sides of an endpoint.
    SESSION(1, "session"),
    /// Between two programs, whose greetings name their protocol.
    EXCHANGE(4, "exchange");

    private final int code;
    private final String words;

    Protocol(int code, String words) {
        this.code = code;
        this.words = words;
    }

    /// The number on the wire.
    int code() {
        return code;
    }

    /// @throws IllegalArgumentException if this release does not support it
    static Protocol of(int code) {
        for (Protocol value : values()) {
            if (value.code == code) {
                return value;
            }
        }
        throw new IllegalArgumentException("there is no protocol with number " + code);
    }

    /// For people.
    @Override
    public String toString() {
        return words;
    }
}
