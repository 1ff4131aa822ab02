package io.rdmacomm.cli.bench;

/// The shape of a test: what each side does in one step. The loops are what is measured: they allocate
/// nothing and log nothing. Every test has a class of its own, so that what its loops call stays known to the
/// compiler.
interface Shape {
    /// How often a loop that waits looks whether that still makes sense, less one; a power of two less one.
    int LOOK_MASK = 0x7ff;

    /// Brings the target into the state that a step begins with: both sides call this before every step.
    default void prepare() {}

    /// Does `count` operations. A latency test puts the time of its beginning and that of the end of every
    /// operation into `readings`; a bandwidth test the times of the first post and of the last completion.
    void initiate(int count, long[] readings);

    /// Does the other side's part in `count` operations of the initiator; nothing where it has none.
    void answer(int count);

    /// What is wrong with the data that this side has received in `count` operations; empty when it is right.
    String complaint(int count);

    /// The shape of a test.
    static Shape of(TestBed bed) {
        return switch (bed.plan().test()) {
            case SEND_LAT -> new SendLatency(bed);
            case WRITE_LAT -> new WriteLatency(bed);
            case READ_LAT -> new ReadLatency(bed);
            case ATOMIC_LAT -> new AtomicLatency(bed);
            case SEND_BW -> new SendBandwidth(bed);
            case WRITE_BW, WRITE_BW_RING -> new WriteBandwidth(bed);
            case READ_BW -> new ReadBandwidth(bed);
        };
    }
}
