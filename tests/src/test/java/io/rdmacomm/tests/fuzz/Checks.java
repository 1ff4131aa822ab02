package io.rdmacomm.tests.fuzz;

/// What must hold whatever a peer sends.
final class Checks {
    private Checks() {}

    static void that(boolean holds, String otherwise) {
        if (!holds) {
            throw new AssertionError(otherwise);
        }
    }
}
