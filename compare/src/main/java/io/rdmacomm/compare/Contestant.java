package io.rdmacomm.compare;

import java.io.IOException;
import java.util.OptionalDouble;

/// One side of a comparison: rdmacomm or a peer.
interface Contestant {
    /// The name in the results.
    String name();

    /// The work that a figure contains, so that a reader can judge whether both sides did the same work.
    String contains();

    /// Why it cannot run on this machine; empty if it can.
    String absence();

    /// What a cache line took in turn with the parts of the last figure, not a number if it changed; empty if only
    /// others
    /// can measure it.
    default OptionalDouble floor() {
        return OptionalDouble.empty();
    }

    /// Measures once. Blocks.
    ///
    /// @throws MeasurementException if there is no figure
    double measure() throws IOException, InterruptedException;
}
