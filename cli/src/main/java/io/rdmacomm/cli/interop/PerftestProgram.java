package io.rdmacomm.cli.interop;

import io.rdmacomm.verbs.AccessFlag;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;

/// The programs of perftest, with their defaults and what distinguishes their protocols.
public enum PerftestProgram {
    /// SENDs back and forth; the client begins.
    IB_SEND_LAT(Operation.SEND, 2),
    /// WRITEs back and forth, while each end watches the last byte of its memory; the server begins.
    IB_WRITE_LAT(Operation.WRITE, 2),
    /// READs by the client, one at a time.
    IB_READ_LAT(Operation.READ, 2),
    /// Fetch-and-adds by the client, one at a time.
    IB_ATOMIC_LAT(Operation.ATOMIC, 8),
    /// SENDs by the client with a full send queue.
    IB_SEND_BW(Operation.SEND, 65_536),
    /// WRITEs by the client with a full send queue.
    IB_WRITE_BW(Operation.WRITE, 65_536),
    /// READs by the client with a full send queue.
    IB_READ_BW(Operation.READ, 65_536),
    /// Fetch-and-adds by the client with a full send queue.
    IB_ATOMIC_BW(Operation.ATOMIC, 8);

    /// The operation that the program measures.
    enum Operation {
        SEND,
        WRITE,
        READ,
        ATOMIC
    }

    private static final int ITERATIONS = 1000;
    private static final int WRITE_ITERATIONS = 5000;

    private final Operation operation;
    private final int bytes;

    PerftestProgram(Operation operation, int bytes) {
        this.operation = operation;
        this.bytes = bytes;
    }

    /// The name of the program.
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    Operation operation() {
        return operation;
    }

    /// The default message size (-s).
    public int bytes() {
        return bytes;
    }

    /// Whether the message size cannot be chosen.
    public boolean hasFixedSize() {
        return operation == Operation.ATOMIC;
    }

    /// The default number of operations (-n).
    public int iterations() {
        return this == IB_WRITE_BW ? WRITE_ITERATIONS : ITERATIONS;
    }

    /// Whether it measures the time of each operation instead of the throughput of many.
    boolean isLatency() {
        return switch (this) {
            case IB_SEND_LAT, IB_WRITE_LAT, IB_READ_LAT, IB_ATOMIC_LAT -> true;
            case IB_SEND_BW, IB_WRITE_BW, IB_READ_BW, IB_ATOMIC_BW -> false;
        };
    }

    /// Whether the server takes no part while the client works.
    boolean isOneSided() {
        return this != IB_SEND_LAT && this != IB_WRITE_LAT && this != IB_SEND_BW;
    }

    /// The number of messages in one latency sample: 2 for a round trip, which is then halved.
    int hops() {
        return operation == Operation.SEND || operation == Operation.WRITE ? 2 : 1;
    }

    /// How often both ends exchange their keys before they connect.
    int keysBeforeConnecting() {
        return isLatency() && operation != Operation.SEND ? 2 : 1;
    }

    /// How often they exchange them again before the test.
    int keysBeforeTheTest() {
        return operation == Operation.SEND ? 3 : 2;
    }

    /// Whether the client tells the server its figures.
    boolean reports() {
        return !isLatency() && operation != Operation.SEND;
    }

    /// Whether both ends exchange their keys after the test. The ends of `ib_write_lat` just exit.
    boolean confirmsTheEnd() {
        return this != IB_WRITE_LAT;
    }

    /// The rights to the memory for incoming data.
    Set<AccessFlag> access() {
        Set<AccessFlag> access = EnumSet.of(AccessFlag.LOCAL_WRITE);
        switch (operation) {
            case SEND -> {}
            case WRITE -> access.add(AccessFlag.REMOTE_WRITE);
            case READ -> access.add(AccessFlag.REMOTE_READ);
            case ATOMIC -> access.add(AccessFlag.REMOTE_ATOMIC);
        }
        return access;
    }
}
