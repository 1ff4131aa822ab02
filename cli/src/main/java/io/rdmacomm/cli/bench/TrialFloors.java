package io.rdmacomm.cli.bench;

import io.rdmacomm.cli.bench.trial.BenchTest;
import io.rdmacomm.cli.bench.trial.CopyFloor;
import io.rdmacomm.cli.bench.trial.Floor;
import io.rdmacomm.cli.bench.trial.MachineFloors;
import io.rdmacomm.cli.bench.trial.TrialPlan;
import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.RdmaBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/// The machine's limit for each measurement. Measures a limit once if several measurements share it.
final class TrialFloors {
    private static final int CACHE_LINE_BYTES = 64;

    private final ClientSession session;
    private final MachineFloors floors;
    private final Map<List<Long>, Double> copyGbps = new HashMap<>();
    private final Map<Long, Double> copyMicros = new HashMap<>();

    /// The limits of measurements with buffers of `session`.
    TrialFloors(ClientSession session, MachineFloors floors) {
        this.session = session;
        this.floors = floors;
    }

    /// The limit.
    Floor of(TrialPlan plan) {
        if (plan.test() == BenchTest.REQUEST_LAT) {
            return Floor.UNKNOWN; // The kernel's scheduler sets its limit.
        }
        if (plan.test().usesSocket()) {
            return Floor.UNKNOWN; // Its limit is the plain socket of the same run.
        }
        if (plan.test().kind() == BenchTest.Kind.BANDWIDTH) {
            double gbps = copyGbps.computeIfAbsent(
                    List.of(plan.bytes(), (long) plan.buffers()),
                    key -> copying(plan, floor -> floor.gbps(plan.stride(), plan.bytes(), plan.buffers())));
            return new Floor(gbps, 0);
        }
        double copy = copyMicros.computeIfAbsent(plan.bytes(), bytes -> copying(plan, floor -> floor.micros(bytes)));
        if (plan.test().hops() == 1) {
            return new Floor(copy, 0);
        }
        // One cache line moves in any case; a message that does not fit into it is also copied.
        boolean fits = plan.bytes() <= CACHE_LINE_BYTES;
        double cacheLine = floors.cacheLineMicros();
        return cacheLine == 0 ? Floor.UNKNOWN : new Floor(cacheLine + (fits ? 0 : copy), cacheLine);
    }

    private double copying(TrialPlan plan, ToDoubleFunction<CopyFloor> measurement) {
        try (RdmaBuffer buffer = session.allocate("bench copy", 2 * plan.stride() * plan.buffers())) {
            return measurement.applyAsDouble(new CopyFloor(buffer.segment()));
        }
    }
}
