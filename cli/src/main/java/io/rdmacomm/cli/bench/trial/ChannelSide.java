package io.rdmacomm.cli.bench.trial;

import io.rdmacomm.cli.command.CommandFailure;
import java.time.Duration;

/// A side whose trial runs over the channels of a session.
final class ChannelSide implements TrialSide {
    private final TestBed bed;
    private final Workload workload;

    ChannelSide(TestBed bed) {
        this.bed = bed;
        this.workload = Workloads.of(bed);
    }

    @Override
    public TrialPlan plan() {
        return bed.plan();
    }

    @Override
    public void prepare(StepMode mode, int count) {
        if (mode != StepMode.WARM_UP) {
            bed.target().clear();
        }
        workload.prepare();
        // The warm-up checks one message as well. Otherwise the JIT compiler would compile code without the check,
        // and discard that code at the first check.
        int unchecked = mode == StepMode.CHECK ? 0 : count - 1;
        bed.messages().checkFrom(bed.messages().count() + unchecked + 1);
        bed.begin();
    }

    /// Meters the whole process if the sessions use modes, because such a measurement is about the threads of the
    /// modes.
    @Override
    public CpuMeter cpuMeter() {
        return new CpuMeter(plan().modes() == null ? CpuTime::ofJavaThreads : CpuTime::ofProcess);
    }

    @Override
    public void initiate(StepMode mode, int count, Readings readings) {
        if (mode == StepMode.IDLE) {
            bed.idle(Duration.ofMillis(count));
        } else {
            workload.initiate(count, readings);
        }
    }

    @Override
    public void answer(StepMode mode, int count) {
        if (mode == StepMode.IDLE) {
            bed.idle(Duration.ofMillis(count));
        } else if (plan().bidirectional()) {
            workload.initiate(count, Readings.ofAll());
        } else {
            workload.answer(count);
        }
    }

    @Override
    public void endStep(StepMode mode) {
        bed.awaitBoth();
        if (mode == StepMode.WARM_UP) {
            CompilerTime.awaitIdle();
        }
    }

    @Override
    public void verify(StepMode mode, int count, boolean receives) {
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
