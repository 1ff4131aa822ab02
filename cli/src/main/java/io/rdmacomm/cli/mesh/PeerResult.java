package io.rdmacomm.cli.mesh;

import io.rdmacomm.cli.command.Rounding;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;

/// The writes of one node to another.
///
/// @param to the other node
/// @param bytes how much was written
/// @param nanos the time from the first write to the last completion, summed over the iterations
/// @param latencies the latencies of its writes
record PeerResult(int to, long bytes, long nanos, Latencies latencies) {
    static final int BYTES = 20 + Latencies.BYTES;

    double gbps() {
        return gbps(bytes, nanos);
    }

    static double gbps(long bytes, long nanos) {
        return nanos == 0 ? 0 : bytes * 8.0 / nanos;
    }

    void put(ByteBuffer buffer) {
        buffer.putInt(to).putLong(bytes).putLong(nanos);
        latencies.put(buffer);
    }

    static PeerResult get(ByteBuffer from) {
        return new PeerResult(from.getInt(), from.getLong(), from.getLong(), Latencies.get(from));
    }

    /// @param from the node that wrote
    Map<String, Object> toMap(int from) {
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("from", from);
        members.put("to", to);
        members.put("bytes", bytes);
        members.put("gbps", Rounding.to(gbps(), 3));
        latencies.addTo(members);
        return members;
    }
}
