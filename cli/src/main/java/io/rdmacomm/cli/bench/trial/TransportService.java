package io.rdmacomm.cli.bench.trial;

import io.rdmacomm.cli.command.UsageFailure;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.QueuePairType;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/// The transport service that carries the messages of a test (ibv_create_qp(3)).
public enum TransportService {
    /// Reliable connections: nothing is lost.
    RC(QueuePairType.RELIABLE_CONNECTED, Capability.RELIABLE_CONNECTED, "reliable connections"),
    /// Unreliable connections: messages can be lost; there are no READs and no atomics.
    UC(QueuePairType.UNRELIABLE_CONNECTED, Capability.UNRELIABLE_CONNECTED, "unreliable connections"),
    /// Datagrams: messages up to the MTU, which can be lost.
    UD(QueuePairType.UNRELIABLE_DATAGRAM, Capability.UNRELIABLE_DATAGRAM, "datagrams");

    private static final List<TransportService> SERVICES = List.of(values());

    private final QueuePairType type;
    private final Capability capability;
    private final String title;

    TransportService(QueuePairType type, Capability capability, String title) {
        this.type = type;
        this.capability = capability;
        this.title = title;
    }

    /// The service with this number.
    ///
    /// @throws IllegalArgumentException if there is none
    public static TransportService of(long code) {
        if (code < 0 || code >= SERVICES.size()) {
            throw new IllegalArgumentException("there is no transport service " + code);
        }
        return SERVICES.get((int) code);
    }

    /// The number of the service on the wire.
    public int code() {
        return SERVICES.indexOf(this);
    }

    /// The name of the service on the command line and in JSON.
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    public QueuePairType type() {
        return type;
    }

    /// Whether no messages are lost.
    public boolean isReliable() {
        return this == RC;
    }

    /// Whether the service has the operations of `test`.
    public boolean allows(BenchTest test) {
        return switch (test) {
            case SEND_LAT, SEND_BW -> true;
            case WRITE_LAT, WRITE_BW -> this != UD;
            case VIEW_LAT,
                    READ_LAT,
                    ATOMIC_LAT,
                    REQUEST_LAT,
                    WRITE_BW_RING,
                    READ_BW,
                    SOCKET_LAT,
                    TCP_LAT,
                    SOCKET_REQUEST_LAT,
                    TCP_REQUEST_LAT,
                    SOCKET_BW,
                    TCP_BW -> this == RC;
        };
    }

    /// The names of the tests that the service [allows][#allows].
    public String labels() {
        return Arrays.stream(BenchTest.values())
                .filter(this::allows)
                .map(BenchTest::label)
                .collect(Collectors.joining(", "));
    }

    /// Checks that a device can carry messages of these sizes.
    ///
    /// @param longest the longest datagram
    /// @throws UsageFailure if it cannot
    public void check(Context context, List<Long> sizes, int longest) {
        if (!context.supports(capability)) {
            throw new UsageFailure(context.device().name() + " has no " + title + " (" + capability
                    + "): leave --transport " + label() + " out, or choose a device that has them with --device");
        }
        for (long size : sizes) {
            if (this == UD && size > longest) {
                throw new UsageFailure("size " + size + " does not fit into a datagram, which has at most " + longest
                        + " bytes here, the path MTU: use smaller --sizes, or --transport "
                        + (context.supports(UC.capability) ? "uc or rc" : "rc"));
            }
        }
    }
}
