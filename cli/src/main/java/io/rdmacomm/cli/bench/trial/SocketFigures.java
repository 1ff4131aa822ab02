package io.rdmacomm.cli.bench.trial;

import io.rdmacomm.cli.command.Rounding;
import java.util.Map;

/// The performance of a plain TCP socket between the two sides.
///
/// @param micros the one-way time of 8 bytes; 0 if not measured
/// @param gbps 10^9 bits per second of a stream; 0 if not measured
public record SocketFigures(double micros, double gbps) {
    public static final SocketFigures NONE = new SocketFigures(0, 0);

    /// Adds both to a JSON object.
    ///
    /// @param when they were measured, for the names of the members
    public void addTo(Map<String, Object> members, String when) {
        if (micros > 0) {
            members.put("socket" + when + "_us", Rounding.to(micros, 3));
            members.put("socket" + when + "_gbps", Rounding.to(gbps, 3));
        }
    }
}
