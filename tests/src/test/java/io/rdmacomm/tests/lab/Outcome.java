package io.rdmacomm.tests.lab;

import static org.assertj.core.api.Assertions.assertThat;

/// The result of running the command.
///
/// @param text its output, including errors
record Outcome(int exitCode, String text) {
    void assertGood() {
        assertThat(exitCode).as(text).isZero();
    }
}
