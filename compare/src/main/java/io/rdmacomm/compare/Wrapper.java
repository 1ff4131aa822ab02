package io.rdmacomm.compare;

import java.io.IOException;
import java.util.OptionalDouble;

/// A contestant that does what another one does, except for the methods that it overrides.
interface Wrapper extends Contestant {
    /// The other one.
    Contestant contestant();

    @Override
    default String name() {
        return contestant().name();
    }

    @Override
    default String contains() {
        return contestant().contains();
    }

    @Override
    default String absence() {
        return contestant().absence();
    }

    @Override
    default OptionalDouble floor() {
        return contestant().floor();
    }

    @Override
    default double measure() throws IOException, InterruptedException {
        return contestant().measure();
    }
}
