package io.rdmacomm.cli.bench.trial;

import java.util.List;
import java.util.Locale;

/// The tests, in their default order.
public enum BenchTest {
    /// SENDs back and forth; half of the round-trip time.
    SEND_LAT(Kind.LATENCY, 2),
    /// WRITEs back and forth, while each side polls the last byte of its memory; half of the round-trip time.
    WRITE_LAT(Kind.LATENCY, 2),
    /// Stores back and forth through direct views of the peer's memory, instead of WRITEs; half of the round-trip
    /// time. Runs only if named, because only the software device has views.
    VIEW_LAT(Kind.LATENCY, 2),
    /// READs, from post to completion.
    READ_LAT(Kind.LATENCY, 1),
    /// Fetch-and-adds of 8 bytes, from post to completion.
    ATOMIC_LAT(Kind.LATENCY, 1),
    /// A request and its answer in blocking calls that sleep until the message comes; the whole round trip. Runs
    /// only if named, because its sessions need their own port.
    REQUEST_LAT(Kind.LATENCY, 1),
    /// SENDs with a full send window.
    SEND_BW(Kind.BANDWIDTH, 1),
    /// WRITEs from one buffer to one buffer, with a full send window.
    WRITE_BW(Kind.BANDWIDTH, 1),
    /// WRITEs from one ring of buffers to another, with a full send window.
    WRITE_BW_RING(Kind.BANDWIDTH, 1),
    /// READs from one buffer into one buffer, with a full send window.
    READ_BW(Kind.BANDWIDTH, 1),
    /// Messages back and forth over a socket of the module `nio`, in calls that do not block; half of the
    /// round-trip time. Runs only if named, like all tests of sockets, and in turn with [#TCP_LAT].
    SOCKET_LAT(Kind.LATENCY, 2),
    /// The same over a plain socket of the JDK.
    TCP_LAT(Kind.LATENCY, 2),
    /// A request and its answer over a socket of the module `nio`, in blocking calls; the whole round trip.
    SOCKET_REQUEST_LAT(Kind.LATENCY, 1),
    /// The same over a plain socket of the JDK.
    TCP_REQUEST_LAT(Kind.LATENCY, 1),
    /// Messages one way over a socket of the module `nio`, until the answer that all have arrived.
    SOCKET_BW(Kind.BANDWIDTH, 1),
    /// The same over a plain socket of the JDK.
    TCP_BW(Kind.BANDWIDTH, 1);

    private static final BenchTest[] VALUES = values();

    private final Kind kind;
    private final int hops;

    BenchTest(Kind kind, int hops) {
        this.kind = kind;
        this.hops = hops;
    }

    /// The kinds of test.
    public enum Kind {
        /// The time of one operation.
        LATENCY,
        /// The throughput of many operations in flight.
        BANDWIDTH
    }

    /// The quantity that the test measures.
    public Kind kind() {
        return kind;
    }

    /// The number of messages in one sample: 2 for a round trip that is halved.
    public int hops() {
        return hops;
    }

    /// Whether the operations of the test also exist as blocking calls, which wait in the modes of the session.
    /// Other tests poll: [#WRITE_LAT] watches memory, and bandwidth tests keep the send window full.
    public boolean hasBlockingForm() {
        return this == SEND_LAT || this == READ_LAT || this == ATOMIC_LAT || this == REQUEST_LAT;
    }

    /// Whether the test runs if no test is named.
    public boolean isUsual() {
        return this != REQUEST_LAT && this != VIEW_LAT && !usesSocket();
    }

    /// Whether the size is always 8 bytes.
    public boolean hasFixedSize() {
        return this == ATOMIC_LAT || this == REQUEST_LAT || isSocketRequest();
    }

    /// Whether the test measures sockets instead of verbs.
    public boolean usesSocket() {
        return isPlainTcp() || this == SOCKET_LAT || this == SOCKET_REQUEST_LAT || this == SOCKET_BW;
    }

    /// Whether it uses plain sockets of the JDK.
    public boolean isPlainTcp() {
        return this == TCP_LAT || this == TCP_REQUEST_LAT || this == TCP_BW;
    }

    /// Whether it is a test of sockets in blocking calls.
    public boolean isSocketRequest() {
        return this == SOCKET_REQUEST_LAT || this == TCP_REQUEST_LAT;
    }

    /// This test, and the one that runs in turn with it for a comparison.
    public List<BenchTest> inTurn() {
        return switch (this) {
            case SOCKET_LAT -> List.of(this, TCP_LAT);
            case SOCKET_REQUEST_LAT -> List.of(this, TCP_REQUEST_LAT);
            case SOCKET_BW -> List.of(this, TCP_BW);
            default -> List.of(this);
        };
    }

    /// Whether the server answers each message with a message.
    public boolean answersMessages() {
        return this == SEND_LAT || this == REQUEST_LAT;
    }

    /// Whether the client receives data, and can check it.
    public boolean clientReceives() {
        return kind == Kind.LATENCY || this == READ_BW;
    }

    /// Whether the server receives data, and can check it.
    public boolean serverReceives() {
        return this != READ_LAT && this != READ_BW;
    }

    /// The name of the test on the command line and in JSON.
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /// The test with this name.
    ///
    /// @throws IllegalArgumentException if there is none; the message lists all tests
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
        throw new IllegalArgumentException("'" + label + "' is not a test; the tests are " + labels);
    }
}
