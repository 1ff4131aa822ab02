package io.rdmacomm.fault;

import java.util.Random;

/// The operations that a rule applies to: from number `first` on, every `step`th, with a probability of
/// `percent`.
///
/// @param first counted from 1
/// @param step 0 for `first` only
record Occurrence(long first, long step, double percent) {
    static final double ALWAYS = 100;

    /// Whether it includes operation `number`, counted from 1. Each operation draws the same amount from
    /// `random`.
    boolean includes(long number, Random random) {
        boolean counted = step == 0 ? number == first : number >= first && (number - first) % step == 0;
        return isRandom() ? random.nextDouble() * ALWAYS < percent && counted : counted;
    }

    boolean isRandom() {
        return percent < ALWAYS;
    }
}
