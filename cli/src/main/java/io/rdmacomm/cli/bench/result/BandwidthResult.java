package io.rdmacomm.cli.bench.result;

import io.rdmacomm.cli.terminal.Rounding;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// The throughput of many operations in flight.
///
/// @param test the test
/// @param bytes the message size
/// @param iterations the number of messages, in both directions together
/// @param nanos the time from the first post to the last completion
/// @param cpuNanos the CPU time of both sides
/// @param copyGbps the rate at which one thread of this machine copies memory; 0 if unknown
/// @param spread the rates of the parts of the measurement, in 10^9 bits per second
public record BandwidthResult(
        BenchTest test, long bytes, long iterations, long nanos, long cpuNanos, double copyGbps, Spread spread)
        implements Result {
    /// 10^9 bits per second.
    public double gbps() {
        return 8.0 * bytes * iterations / nanos;
    }

    /// 10^6 messages per second.
    public double millionMessagesPerSecond() {
        return 1000.0 * iterations / nanos;
    }

    /// Microseconds of CPU time for 10^9 bytes.
    public double cpuMicrosPerGigabyte() {
        return cpuNanos / 1000.0 / (bytes * (double) iterations / 1e9);
    }

    /// The throughput as a fraction of the copy rate; 0 if that is unknown.
    public double ratio() {
        return copyGbps > 0 ? gbps() / copyGbps : 0;
    }

    /// Whether it exceeds the copy rate, because the machine was slower while that was measured.
    public boolean isBeyondTheCopy() {
        return copyGbps > 0 && ratio() > 1 + Result.TOLERANCE;
    }

    @Override
    public Map<String, Object> toMap() {
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("test", test.label());
        members.put("bytes", bytes);
        members.put("iterations", iterations);
        members.put("gbps", Rounding.rate(gbps(), 3));
        members.put("million_messages_per_second", Rounding.rate(millionMessagesPerSecond(), 4));
        members.put("cpu_us_per_gb", Rounding.to(cpuMicrosPerGigabyte(), 1));
        spread.addTo(members, "gbps");
        if (copyGbps > 0) {
            members.put("copy_gbps", Rounding.to(copyGbps, 3));
            members.put("ratio", Rounding.to(ratio(), 3));
        }
        if (isBeyondTheCopy()) {
            members.put("uncertain", List.of("ratio"));
        }
        return members;
    }
}
