package io.rdmacomm.cli.bench;

import java.util.LinkedHashMap;
import java.util.Map;

/// How much goes through with many operations at a time.
///
/// @param test what was measured
/// @param bytes the size of a message
/// @param iterations how many messages there were, in both directions
/// @param nanos from the first post to the last completion
/// @param cpuNanos the time that the processors of both ends worked for it
/// @param copyGbps what one thread of this machine copies; 0 when that is unknown
public record BandwidthResult(BenchTest test, long bytes, long iterations, long nanos, long cpuNanos, double copyGbps)
        implements Result {
    /// 10^9 bits a second.
    double gbps() {
        return 8.0 * bytes * iterations / nanos;
    }

    /// 10^6 messages a second.
    double millionMessagesPerSecond() {
        return 1000.0 * iterations / nanos;
    }

    /// Microseconds of processor time for 10^9 bytes.
    double cpuMicrosPerGigabyte() {
        return cpuNanos / 1000.0 / (bytes * (double) iterations / 1e9);
    }

    /// The share of what one thread of this machine copies; 0 when that is unknown.
    double ratio() {
        return copyGbps > 0 ? gbps() / copyGbps : 0;
    }

    @Override
    public Map<String, Object> toMap() {
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("test", test.label());
        members.put("bytes", bytes);
        members.put("iterations", iterations);
        members.put("gbps", Rounding.rate(gbps(), 3));
        members.put("mmsgs_per_s", Rounding.rate(millionMessagesPerSecond(), 4));
        members.put("cpu_us_per_gb", Rounding.to(cpuMicrosPerGigabyte(), 1));
        if (copyGbps > 0) {
            members.put("copy_gbps", Rounding.to(copyGbps, 3));
            members.put("ratio", Rounding.to(ratio(), 3));
        }
        return members;
    }
}
