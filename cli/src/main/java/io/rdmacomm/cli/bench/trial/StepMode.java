package io.rdmacomm.cli.bench.trial;

import java.util.List;

/// The purpose of a step.
enum StepMode {
    /// Warms up the JIT compiler and the caches. Results are not checked.
    WARM_UP,
    /// Measures. The target buffer is checked afterwards.
    MEASURE,
    /// Checks every message, without a measurement.
    CHECK,
    /// Both sides wait for a message that does not come. The count is the time in milliseconds.
    IDLE;

    private static final List<StepMode> MODES = List.of(values());

    /// The number of the mode on the wire.
    int code() {
        return MODES.indexOf(this);
    }

    /// The mode with this number.
    ///
    /// @throws IllegalArgumentException if there is none
    static StepMode of(long code) {
        if (code < 0 || code >= MODES.size()) {
            throw new IllegalArgumentException("there is no step mode " + code);
        }
        return MODES.get((int) code);
    }
}
