package io.rdmacomm.cli.bench;

/// The operations of one test, for both sides. The loops in here are what the benchmark measures: they allocate
/// nothing and log nothing.
interface Workload {
    /// Resets the state that a step starts from. Both sides call this before every step.
    default void prepare() {}

    /// Performs `count` operations. It tells `readings` when the first one begins and the last one ends; a
    /// latency test also when each one ends.
    void initiate(int count, Readings readings);

    /// Performs the other side's part of the initiator's `count` operations. Does nothing if there is no such part.
    default void answer(int count) {}

    /// Describes what is wrong with the data that this side received in `count` operations; empty if it is correct.
    String findCorruption(int count);

    /// The workload of the test that `bed` is set up for.
    static Workload of(TestBed bed) {
        Workload polling = polling(bed);
        return bed.plan().modes() == null ? polling : new BlockingLatency(bed, polling);
    }

    private static Workload polling(TestBed bed) {
        return switch (bed.plan().test()) {
            case SEND_LAT, REQUEST_LAT -> new SendLatency(bed);
            case WRITE_LAT -> new WriteLatency(bed);
            case READ_LAT -> new ReadLatency(bed);
            case ATOMIC_LAT -> new AtomicLatency(bed);
            case SEND_BW -> new SendBandwidth(bed);
            case WRITE_BW, WRITE_BW_RING -> new WriteBandwidth(bed);
            case READ_BW -> new ReadBandwidth(bed);
        };
    }
}
