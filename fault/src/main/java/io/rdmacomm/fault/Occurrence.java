package io.rdmacomm.fault;

import java.util.Random;

/// Which of the operations that a rule is about it applies to: those from number `first` on, each `step`th of them,
/// with a probability of `percent`.
///
/// @param first counted from 1
/// @param step 0 for `first` only
record Occurrence(long first, long step, double percent) {
    static final double ALWAYS = 100;

    /// Whether it includes operation `number`, counted from 1. Each operation uses as much of `random`.
    boolean includes(long number, Random random) {
        boolean counted = step == 0 ? number == first : number >= first && (number - first) % step == 0;
        return isRandom() ? random.nextDouble() * ALWAYS < percent && counted : counted;
    }

    boolean isRandom() {
        return percent < ALWAYS;
    }
}
