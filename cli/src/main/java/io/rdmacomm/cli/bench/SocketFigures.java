package io.rdmacomm.cli.bench;

import java.util.Map;

/// What a plain TCP socket did between the two ends.
///
/// @param micros the median of the time one way of 8 bytes; 0 when that was not measured
/// @param gbps 10^9 bits a second of a stream; 0 when that was not measured
public record SocketFigures(double micros, double gbps) {
    static final SocketFigures NONE = new SocketFigures(0, 0);

    void addTo(Map<String, Object> members, String suffix) {
        if (micros > 0) {
            members.put("socket_us" + suffix, Rounding.to(micros, 3));
            members.put("socket_gbps" + suffix, Rounding.to(gbps, 3));
        }
    }
}
