package io.rdmacomm.tests.lab;

import static org.assertj.core.api.Assertions.assertThat;

/// What a run of the command came to.
///
/// @param text what it printed, the complaints too
record Outcome(int exitCode, String text) {
    void assertGood() {
        assertThat(exitCode).as(text).isZero();
    }
}
