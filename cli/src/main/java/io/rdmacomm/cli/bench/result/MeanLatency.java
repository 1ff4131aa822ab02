package io.rdmacomm.cli.bench.result;

import io.rdmacomm.cli.terminal.Rounding;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// The mean latency of operations during which the clock was not read.
///
/// @param test the test
/// @param bytes the message size
/// @param iterations the number of operations
/// @param nanos the time of all operations
/// @param floor the least that this machine needs, in microseconds; 0 if unknown
/// @param spread the means of the parts of the measurement, in microseconds
public record MeanLatency(BenchTest test, long bytes, long iterations, long nanos, double floor, Spread spread)
        implements Result {
    public double micros() {
        return nanos / 1000.0 / iterations / test.hops();
    }

    /// The mean as a multiple of the floor; 0 if the floor is unknown.
    public double ratio() {
        return floor > 0 ? micros() / floor : 0;
    }

    /// Whether it is below the floor, because the machine was slower while that was measured.
    public boolean isBeyondTheFloor() {
        return floor > 0 && ratio() < 1 - Result.TOLERANCE;
    }

    @Override
    public Map<String, Object> toMap() {
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("test", test.label());
        members.put("bytes", bytes);
        members.put("iterations", iterations);
        members.put("avg_us", Rounding.to(micros(), 4));
        spread.addTo(members, "us");
        if (floor > 0) {
            members.put("floor_us", Rounding.to(floor, 4));
            members.put("ratio", Rounding.to(ratio(), 2));
        }
        if (isBeyondTheFloor()) {
            members.put("uncertain", List.of("ratio"));
        }
        return members;
    }
}
