package io.rdmacomm.cli.bench.result;

import io.rdmacomm.cli.terminal.Rounding;
import java.util.LinkedHashMap;
import java.util.Map;

/// The result of a measurement in one of several modes that are compared.
///
/// @param measured the latency
/// @param modes the modes
/// @param busy the CPU time during the operations
/// @param idle the CPU time while both sides waited and nothing happened
public record ModeResult(LatencyResult measured, Modes modes, StepUse busy, StepUse idle) implements Result {
    @Override
    public BenchTest test() {
        return measured.test();
    }

    @Override
    public long bytes() {
        return measured.bytes();
    }

    @Override
    public Map<String, Object> toMap() {
        Map<String, Object> members = new LinkedHashMap<>(measured.toMap());
        modes.addTo(members);
        addTo(members, "busy_cpu", busy);
        addTo(members, "idle_cpu", idle);
        return members;
    }

    private static void addTo(Map<String, Object> members, String name, StepUse use) {
        members.put(name + "_client_percent", Rounding.to(use.client().percent(), 2));
        members.put(name + "_server_percent", Rounding.to(use.server().percent(), 2));
    }
}
