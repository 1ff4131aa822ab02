package io.rdmacomm.cli.bench;

import io.rdmacomm.cli.terminal.DeviceLine;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// What a benchmark found.
///
/// @param provider whose device it was
/// @param device which device, port and GID it was
/// @param floors what the machines do without RDMA
/// @param socketAtEnd what a plain TCP socket did when all was measured
/// @param setUpMillis how long each connection took from the TCP connection until it was ready to send
/// @param results the measurements
public record BenchReport(
        String provider,
        DeviceLine device,
        MachineFloors floors,
        SocketFigures socketAtEnd,
        List<Double> setUpMillis,
        List<Result> results) {
    /// The members of its JSON document beside `schema` and `environment`.
    public Map<String, Object> toMap() {
        Map<String, Object> members = new LinkedHashMap<>();
        device.addTo(members);
        floors.addTo(members);
        socketAtEnd.addTo(members, "_at_end");
        members.put("setup_ms_p50", Rounding.to(medianSetUpMillis(), 3));
        members.put("data_verified", true);
        List<Map<String, Object>> rows = new ArrayList<>();
        results.forEach(result -> rows.add(result.toMap()));
        members.put("results", rows);
        return members;
    }

    /// The one in the middle; 0 when there is none.
    public double medianSetUpMillis() {
        List<Double> sorted = new ArrayList<>(setUpMillis);
        Collections.sort(sorted);
        return sorted.isEmpty() ? 0 : sorted.get(sorted.size() / 2);
    }
}
