package io.rdmacomm.cli.bench;

/// What a step is for.
enum StepMode {
    /// So that the compiler and the caches are ready; what is found wrong is told later.
    WARM_UP(0),
    /// Counts; what is in the target afterwards is checked.
    MEASURE(1),
    /// Does not count; every message is checked.
    CHECK(2);

    private static final StepMode[] VALUES = values();

    private final int code;

    StepMode(int code) {
        this.code = code;
    }

    /// The number on the wire.
    int code() {
        return code;
    }

    static StepMode of(long code) {
        for (StepMode mode : VALUES) {
            if (mode.code == code) {
                return mode;
            }
        }
        throw new IllegalArgumentException("there is no mode " + code);
    }

    /// Gets a side ready for a step of this mode.
    void prepare(TestBed bed, Workload workload, int count) {
        if (this != WARM_UP) {
            bed.target().clear();
        }
        workload.prepare();
        long arrived = bed.messages().count();
        bed.messages()
                .checkFrom(
                        switch (this) {
                            // The warm-up, too: code that was compiled without the check is thrown away at the first
                            // one.
                            case WARM_UP, MEASURE -> arrived + count;
                            case CHECK -> arrived + 1;
                        });
        bed.begin();
    }
}
