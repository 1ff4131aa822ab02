package io.rdmacomm.cli.bench;

import io.rdmacomm.cli.terminal.CommandFailure;
import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.CommException;
import io.rdmacomm.comm.SessionOptions;
import java.time.Duration;
import java.util.List;

/// The client's side of one connection that is made for one test with one size.
final class Trial implements AutoCloseable {
    /// How the sessions that carry tests are called, for the server.
    static final String NAME = "bench data";

    /// How long the compilers of each end are waited for after a step.
    static final long COMPILER_NANOS = 250_000_000;

    private static final Duration LAST_WORDS = Duration.ofSeconds(1);

    private final SignalChannel signals;
    private final ClientSession session;
    private final TestBed bed;
    private final Workload workload;
    private final long setUpNanos;
    private long compilerNanos;
    private boolean broken;

    private Trial(SignalChannel signals, ClientSession session, TestBed bed, long setUpNanos) {
        this.signals = signals;
        this.session = session;
        this.bed = bed;
        this.workload = Workload.of(bed);
        this.setUpNanos = setUpNanos;
    }

    /// Agrees on the plan with the server and connects for it.
    static Trial open(SignalChannel signals, SessionOptions options, TrialPlan plan) {
        signals.send(plan.toSignal());
        signals.expect(Signal.Kind.OK);
        ClientSession session = ClientSession.connect(options.withName(NAME)
                .withChannels(plan.channels())
                .withConfigurer((index, proposed) -> plan.channel(index)));
        long setUpNanos = session.endPoint().setUpTime().toNanos();
        try {
            TestBed bed = new TestBed(session, session.endPoint(), plan);
            signals.expect(Signal.Kind.READY);
            return new Trial(signals, session, bed, setUpNanos);
        } catch (RuntimeException e) {
            session.close();
            throw explain(signals, e);
        }
    }

    /// Does `count` operations; see [Workload#initiate].
    ///
    /// @return the processor time of both ends in nanoseconds
    long step(int count, StepMode mode, long[] readings) {
        try {
            return tryStep(count, mode, readings);
        } catch (CommException | CommandFailure e) {
            broken = true;
            throw e instanceof CommException ? explain(signals, e) : e;
        }
    }

    private long tryStep(int count, StepMode mode, long[] readings) {
        mode.prepare(bed, workload, count);
        signals.send(Signal.of(Signal.Kind.STEP, count, mode.code()));
        signals.expect(Signal.Kind.READY);
        long processor = ProcessorTime.nanos();
        workload.initiate(count, readings);
        processor = ProcessorTime.nanos() - processor;
        signals.send(Signal.of(Signal.Kind.DONE));
        bed.settle();
        if (mode == StepMode.WARM_UP) {
            CompilerTime.awaitRest(COMPILER_NANOS);
        }
        List<Long> report = signals.expect(Signal.Kind.REPORT);
        compilerNanos = CompilerTime.nanos() + (report.size() > 1 ? report.get(1) : 0);
        bed.checkWork();
        boolean receives = bed.plan().test().clientReceives() || bed.plan().bidirectional();
        if (mode != StepMode.WARM_UP && receives) {
            String complaint = workload.findCorruption(count);
            if (!complaint.isEmpty()) {
                throw new CommandFailure(
                        bed.plan().test().label() + " of " + bed.plan().bytes() + " bytes: " + complaint);
            }
        }
        return processor + (report.isEmpty() ? 0 : report.getFirst());
    }

    /// How long the compilers of both ends had worked when the last step was over; see [CompilerTime#nanos()].
    long compilerNanos() {
        return compilerNanos;
    }

    /// How long the connection took: from the TCP connection to ready to send.
    long setUpNanos() {
        return setUpNanos;
    }

    /// What the server says about a failure that this side only saw the end of.
    private static RuntimeException explain(SignalChannel signals, RuntimeException failure) {
        try {
            Signal signal = signals.receive(LAST_WORDS);
            if (signal.kind() == Signal.Kind.FAILED) {
                return new CommandFailure("the other side says: " + signal.text(), failure);
            }
        } catch (RuntimeException e) {
            failure.addSuppressed(e);
        }
        return failure;
    }

    @Override
    public void close() {
        try {
            if (!broken) {
                signals.send(Signal.of(Signal.Kind.END));
                signals.expect(Signal.Kind.OK);
            }
        } finally {
            session.close();
        }
    }
}
