package io.rdmacomm.compare;

import java.util.Arrays;

/// The unit of a figure.
enum Unit {
    /// Half of a round trip.
    ONE_WAY("us one way", true),
    /// The same of messages below a microsecond: the median, and beside it what a cache line takes at the same moment.
    /// [#of] gives [#ONE_WAY] for its text.
    SHORT_ONE_WAY("us one way", true),
    /// A request and its answer.
    ROUND_TRIP("us there and back", true),
    /// From the start of a program to its first answer.
    START("ms", true),
    /// 10^9 bits per second of a stream.
    BANDWIDTH("Gbit/s", false),
    /// 10^6 messages per second of a stream.
    RATE("10^6 messages/s", false),
    /// CPU time of both ends of a stream for 10^9 bytes.
    CPU("us of CPU time per GB", true),
    /// Requests that a program answers, or records that it takes or gives.
    REQUESTS("requests/s", false),
    /// CPU time of both ends for a request.
    CPU_OF_REQUEST("us of CPU time per request", true),
    /// CPU time of the JIT compilers of both ends for the first requests.
    COMPILING("s of compiling", true);

    private final String text;
    private final boolean smallerIsBetter;

    Unit(String text, boolean smallerIsBetter) {
        this.text = text;
        this.smallerIsBetter = smallerIsBetter;
    }

    /// The unit with this text.
    ///
    /// @throws IllegalArgumentException if there is none: the text is not that of a unit
    static Unit of(String text) {
        return Arrays.stream(values())
                .filter(unit -> unit.text.equals(text))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("no unit '" + text + "'"));
    }

    String text() {
        return text;
    }

    /// Whether the time of a cache line at the same moment belongs to a figure.
    boolean hasFloor() {
        return this == SHORT_ONE_WAY;
    }

    boolean smallerIsBetter() {
        return smallerIsBetter;
    }

    /// How many times better `ours` is than `theirs`.
    double advantage(double ours, double theirs) {
        return smallerIsBetter ? theirs / ours : ours / theirs;
    }

    /// The time that `operations` take with this figure, in seconds.
    double seconds(double figure, long operations, long bytes) {
        return switch (this) {
            case ONE_WAY, SHORT_ONE_WAY -> 2e-6 * figure * operations;
            case ROUND_TRIP -> 1e-6 * figure * operations;
            case START -> 1e-3 * figure * operations;
            case BANDWIDTH -> 8e-9 * bytes * operations / figure;
            case RATE -> 1e-6 * operations / figure;
            case CPU -> 0.5e-15 * figure * bytes * operations; // both ends work all the time
            case REQUESTS -> operations / figure;
            case CPU_OF_REQUEST -> 0.5e-6 * figure * operations; // both ends work all the time
            case COMPILING -> figure;
        };
    }

    /// The figure of a stream of so many messages per microsecond.
    double ofRate(double messagesPerMicro, long bytes) {
        return this == BANDWIDTH ? messagesPerMicro * 8 * bytes / 1000 : messagesPerMicro;
    }
}
