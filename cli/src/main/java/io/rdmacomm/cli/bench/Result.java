package io.rdmacomm.cli.bench;

import java.util.Map;

/// The result of one measurement.
public sealed interface Result permits LatencyResult, MeanLatency, BandwidthResult, UnreliableResult {
    /// The test.
    BenchTest test();

    /// The message size.
    long bytes();

    /// The members of the JSON object.
    Map<String, Object> toMap();
}
