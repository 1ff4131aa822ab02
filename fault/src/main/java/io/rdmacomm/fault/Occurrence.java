package io.rdmacomm.fault;

import java.util.Random;

/// The operations that a rule applies to: number `first`, then every `step`th, each with a probability of
/// `percent`.
///
/// @param first counted from 1
/// @param step 0 for `first` only
record Occurrence(long first, long step, double percent) {
    static final double ALWAYS = 100;

    /// Whether it includes operation `number`, counted from 1. Each operation takes the same number of values from
    /// `random`.
    boolean includes(long number, Random random) {
        boolean counted = step == 0 ? number == first : number >= first && (number - first) % step == 0;
        return isRandom() ? random.nextDouble() * ALWAYS < percent && counted : counted;
    }

    boolean isRandom() {
        return percent < ALWAYS;
    }
}
