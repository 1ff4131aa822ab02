package io.rdmacomm.cli.bench;

import java.util.Locale;

/// The tests, in the order in which they run.
public enum BenchTest {
    /// SEND there and back, half of the time.
    SEND_LAT(Kind.LATENCY, 2),
    /// WRITE there and back, each side watching the last byte in its memory; half of the time.
    WRITE_LAT(Kind.LATENCY, 2),
    /// READ, from the post to its completion.
    READ_LAT(Kind.LATENCY, 1),
    /// Fetch-and-add of 8 bytes, from the post to its completion.
    ATOMIC_LAT(Kind.LATENCY, 1),
    /// SENDs, a window of them in flight.
    SEND_BW(Kind.BANDWIDTH, 1),
    /// WRITEs from one buffer to one buffer.
    WRITE_BW(Kind.BANDWIDTH, 1),
    /// WRITEs from the next buffer of a ring to the next buffer of a ring.
    WRITE_BW_RING(Kind.BANDWIDTH, 1),
    /// READs into one buffer from one buffer.
    READ_BW(Kind.BANDWIDTH, 1);

    private static final BenchTest[] VALUES = values();

    private final Kind kind;
    private final int hops;

    BenchTest(Kind kind, int hops) {
        this.kind = kind;
        this.hops = hops;
    }

    /// What a test measures.
    public enum Kind {
        /// The time of one operation.
        LATENCY,
        /// How much goes through, with many operations at a time.
        BANDWIDTH
    }

    /// What it measures.
    public Kind kind() {
        return kind;
    }

    /// Through how many hops a measured time goes: 2 when it is a round trip that is halved.
    public int hops() {
        return hops;
    }

    /// Whether the client receives data, so that there is something to check on its side.
    boolean clientReceives() {
        return this == SEND_LAT || this == WRITE_LAT || this == READ_LAT || this == READ_BW || this == ATOMIC_LAT;
    }

    /// Whether the server receives data.
    boolean serverReceives() {
        return this != READ_LAT && this != READ_BW;
    }

    /// The name on the command line and in JSON.
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /// The test with this name.
    ///
    /// @throws IllegalArgumentException if there is none; the message lists those there are
    public static BenchTest named(String label) {
        for (BenchTest test : VALUES) {
            if (test.label().equals(label)) {
                return test;
            }
        }
        StringBuilder labels = new StringBuilder();
        for (BenchTest test : VALUES) {
            labels.append(labels.isEmpty() ? "" : ", ").append(test.label());
        }
        throw new IllegalArgumentException("'" + label + "' is no test; there are " + labels);
    }
}
