package io.rdmacomm.cli.bench.trial;

/// Creates the workload of each test.
final class Workloads {
    private Workloads() {}

    /// The workload of the test that `bed` is set up for.
    static Workload of(TestBed bed) {
        Workload polling = polling(bed);
        return bed.plan().modes() == null ? polling : new BlockingLatency(bed, polling);
    }

    private static Workload polling(TestBed bed) {
        return switch (bed.plan().test()) {
            case SEND_LAT, REQUEST_LAT -> new SendLatency(bed);
            case WRITE_LAT -> new WriteLatency(bed);
            case VIEW_LAT -> new ViewLatency(bed);
            case READ_LAT -> new ReadLatency(bed);
            case ATOMIC_LAT -> new AtomicLatency(bed);
            case SEND_BW -> new SendBandwidth(bed);
            case WRITE_BW, WRITE_BW_RING -> new WriteBandwidth(bed);
            case READ_BW -> new ReadBandwidth(bed);
            case SOCKET_LAT, TCP_LAT, SOCKET_REQUEST_LAT, TCP_REQUEST_LAT, SOCKET_BW, TCP_BW ->
                throw new IllegalArgumentException(bed.plan().test() + " uses no channel of a session");
        };
    }
}
