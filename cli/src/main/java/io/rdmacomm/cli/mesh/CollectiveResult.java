package io.rdmacomm.cli.mesh;

import io.rdmacomm.cli.command.Rounding;
import java.util.LinkedHashMap;
import java.util.Map;

/// The result of one measurement.
///
/// @param bytes the size, as nccl-tests count it
/// @param ranks the number of ranks
/// @param algorithm its label
/// @param iterations the number of calls that were measured
/// @param micros the time of one call, on the slowest rank
public record CollectiveResult(
        CollectiveTest test, long bytes, int ranks, String algorithm, long iterations, double micros) {
    /// Bytes divided by time, in GB/s.
    public double algorithmBandwidth() {
        return bytes / micros / 1e3;
    }

    /// The rate of the slowest link, in GB/s, if each link carries as little as possible.
    public double busBandwidth() {
        return algorithmBandwidth() * test.busFactor(ranks);
    }

    /// The members of the JSON object.
    public Map<String, Object> toMap() {
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("test", test.label());
        members.put("bytes", bytes);
        members.put("algorithm", algorithm);
        members.put("iterations", iterations);
        members.put("time_us", Rounding.to(micros, 3));
        members.put("algbw_gbytes_per_second", Rounding.to(algorithmBandwidth(), 4));
        members.put("busbw_gbytes_per_second", Rounding.to(busBandwidth(), 4));
        return members;
    }
}
