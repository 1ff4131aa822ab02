package io.rdmacomm.cli.interop;

import java.util.Map;

/// The figures of a test, in the definitions of perftest.
public sealed interface PerftestFigures permits LatencyFigures, BandwidthFigures {
    /// The heading and the row of a table.
    String text();

    /// The members of the JSON object, with the names that perftest has.
    Map<String, Object> toMap();
}
