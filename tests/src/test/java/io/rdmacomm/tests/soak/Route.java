package io.rdmacomm.tests.soak;

import java.util.stream.IntStream;

/// A link between two workers, over all its lives.
///
/// @param a the number of a worker
/// @param b the number of the other one
record Route(String name, int a, int b, String device, String transport) {
    IntStream ends() {
        return IntStream.of(a, b);
    }
}
