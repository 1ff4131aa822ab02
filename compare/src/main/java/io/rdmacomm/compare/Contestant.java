package io.rdmacomm.compare;

import java.io.IOException;

/// One side of a comparison: rdmacomm or a peer.
interface Contestant {
    /// The name in the results.
    String name();

    /// The work that a figure contains, so that a reader can judge whether both sides did the same work.
    String contains();

    /// Why it cannot run on this machine; empty if it can.
    String absence();

    /// Measures once. Blocks.
    ///
    /// @throws MeasurementException if there is no figure
    double measure() throws IOException, InterruptedException;
}
