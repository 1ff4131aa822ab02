package io.rdmacomm.cli.bench.result;

import java.util.Map;

/// The result of one measurement.
public sealed interface Result permits LatencyResult, MeanLatency, BandwidthResult, UnreliableResult, ModeResult {
    /// How far beyond a limit of the machine a result may be.
    double TOLERANCE = 0.05;

    /// The test.
    BenchTest test();

    /// The message size.
    long bytes();

    /// The members of the JSON object.
    Map<String, Object> toMap();
}
