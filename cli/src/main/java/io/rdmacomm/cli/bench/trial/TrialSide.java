package io.rdmacomm.cli.bench.trial;

import io.rdmacomm.cli.bench.machine.CompilerTime;
import io.rdmacomm.cli.bench.machine.CpuMeter;
import io.rdmacomm.cli.bench.machine.CpuTime;
import io.rdmacomm.cli.bench.workload.Readings;
import io.rdmacomm.cli.bench.workload.TestBed;
import io.rdmacomm.cli.bench.workload.TrialPlan;
import io.rdmacomm.cli.bench.workload.Workload;
import io.rdmacomm.cli.bench.workload.Workloads;
import io.rdmacomm.cli.terminal.CommandFailure;
import java.time.Duration;

/// The part of a step that client and server have in common.
final class TrialSide {
    private final TestBed bed;
    private final Workload workload;

    TrialSide(TestBed bed) {
        this.bed = bed;
        this.workload = Workloads.of(bed);
    }

    TrialPlan plan() {
        return bed.plan();
    }

    /// Prepares a step of `count` operations.
    void prepare(StepMode mode, int count) {
        if (mode != StepMode.WARM_UP) {
            bed.target().clear();
        }
        workload.prepare();
        // The warm-up checks one message as well: otherwise the JIT compiler would leave the check out of the code,
        // and discard that code at the first check.
        int unchecked = mode == StepMode.CHECK ? 0 : count - 1;
        bed.messages().checkFrom(bed.messages().count() + unchecked + 1);
        bed.begin();
    }

    /// Starts to measure the CPU time of this side: that of the process if its sessions use modes, because such a
    /// measurement is about the threads of the modes.
    CpuMeter cpuMeter() {
        return new CpuMeter(plan().modes() == null ? CpuTime::ofJavaThreads : CpuTime::ofProcess);
    }

    /// Performs the initiator's part of a step; see [Workload#initiate].
    void initiate(StepMode mode, int count, Readings readings) {
        if (mode == StepMode.IDLE) {
            bed.idle(Duration.ofMillis(count));
        } else {
            workload.initiate(count, readings);
        }
    }

    /// Performs the other side's part of a step.
    void answer(StepMode mode, int count) {
        if (mode == StepMode.IDLE) {
            bed.idle(Duration.ofMillis(count));
        } else if (plan().bidirectional()) {
            workload.initiate(count, Readings.ofAll());
        } else {
            workload.answer(count);
        }
    }

    /// Waits until all operations of both sides have taken effect, and after a warm-up step until the JIT compiler
    /// is idle. Both sides call this at the end of a step.
    void endStep(StepMode mode) {
        bed.awaitBoth();
        if (mode == StepMode.WARM_UP) {
            CompilerTime.awaitIdle();
        }
    }

    /// Checks that no operation failed, and that the received data is correct.
    ///
    /// @param receives whether this side receives data in a test in one direction
    /// @throws CommandFailure if the data is wrong
    void verify(StepMode mode, int count, boolean receives) {
        bed.checkWork();
        if (mode == StepMode.WARM_UP || mode == StepMode.IDLE || !(receives || plan().bidirectional())) {
            return;
        }
        String corruption = workload.findCorruption(count);
        if (!corruption.isEmpty()) {
            throw new CommandFailure(plan().test().label() + " of " + plan().bytes() + " bytes: " + corruption);
        }
    }
}
