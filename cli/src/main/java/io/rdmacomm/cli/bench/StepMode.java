package io.rdmacomm.cli.bench;

/// The purpose of a step.
enum StepMode {
    /// Warms up the JIT compiler and the caches. Results are not checked.
    WARM_UP,
    /// Is measured; the target buffer is checked afterwards.
    MEASURE,
    /// Is not measured; every message is checked.
    CHECK;

    private static final StepMode[] MODES = values();

    /// The number of the mode on the wire.
    int code() {
        return ordinal();
    }

    /// The mode with this number.
    ///
    /// @throws IllegalArgumentException if there is none
    static StepMode of(long code) {
        if (code < 0 || code >= MODES.length) {
            throw new IllegalArgumentException("there is no step mode " + code);
        }
        return MODES[(int) code];
    }
}
