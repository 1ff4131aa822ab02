package io.rdmacomm.cli.interop;

import java.util.Map;

/// The figures of a test, as perftest defines them.
public sealed interface PerftestFigures permits LatencyFigures, BandwidthFigures {
    /// The heading and the row of a table.
    String text();

    /// The members of the JSON object, with perftest's names.
    Map<String, Object> toMap();
}
