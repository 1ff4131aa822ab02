package io.rdmacomm.cli.bench;

import java.util.Map;

/// One line of the report.
public sealed interface Result permits LatencyResult, BandwidthResult {
    /// What was measured.
    BenchTest test();

    /// With which size of message.
    long bytes();

    /// The members of its JSON object.
    Map<String, Object> toMap();
}
