package io.rdmacomm.compare;

import java.io.IOException;

/// A contestant whose programs have an AOT cache, which is made before the first measurement.
///
/// @param contestant that is measured
/// @param cache of its programs
record Cached(Contestant contestant, AotCache cache) implements Wrapper {
    @Override
    public double measure() throws IOException, InterruptedException {
        cache.make();
        return contestant.measure();
    }
}
