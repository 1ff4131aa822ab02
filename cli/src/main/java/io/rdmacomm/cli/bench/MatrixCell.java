package io.rdmacomm.cli.bench;

import io.rdmacomm.cli.bench.result.LatencySamples;
import io.rdmacomm.cli.bench.result.Modes;
import io.rdmacomm.cli.terminal.Rounding;
import io.rdmacomm.cli.bench.trial.StepUse;
import java.util.LinkedHashMap;
import java.util.Map;

/// The measurements of one combination of modes.
///
/// @param modes the modes
/// @param samples the round trips
/// @param busy the CPU time during the round trips
/// @param idle the CPU time while both sides waited and nothing happened
public record MatrixCell(Modes modes, LatencySamples samples, StepUse busy, StepUse idle) {
    /// The members of the JSON object.
    Map<String, Object> toMap() {
        Map<String, Object> members = new LinkedHashMap<>();
        modes.addTo(members);
        members.put("round_trips", samples.count());
        members.put("p50_us", Rounding.to(samples.percentileMicros(50), 3));
        members.put("p99_us", Rounding.to(samples.percentileMicros(99), 3));
        addTo(members, "busy_cpu_percent", busy);
        addTo(members, "idle_cpu_percent", idle);
        return members;
    }

    private static void addTo(Map<String, Object> members, String name, StepUse use) {
        members.put(name + "_client", Rounding.to(use.client().percent(), 2));
        members.put(name + "_server", Rounding.to(use.server().percent(), 2));
    }
}
