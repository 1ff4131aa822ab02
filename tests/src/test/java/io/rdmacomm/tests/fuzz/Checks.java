package io.rdmacomm.tests.fuzz;

/// Checks that hold whatever a peer sends.
final class Checks {
    private Checks() {}

    static void that(boolean holds, String otherwise) {
        if (!holds) {
            throw new AssertionError(otherwise);
        }
    }
}
