package io.rdmacomm.cli.bench;

import io.rdmacomm.cli.terminal.CommandFailure;
import io.rdmacomm.cli.wire.Frame;
import io.rdmacomm.cli.wire.FrameChannel;
import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.CommException;
import io.rdmacomm.comm.SessionOptions;
import java.time.Duration;

/// The client's side of a connection that is made for one test with one message size.
final class Trial implements AutoCloseable {
    /// The name of the sessions that carry tests, by which the server recognizes them.
    static final String NAME = "bench data";

    private static final Duration LAST_WORDS = Duration.ofSeconds(1);

    private final FrameChannel<BenchMessage> control;
    private final ClientSession session;
    private final TrialSide side;
    private long compilerNanos;
    private boolean broken;

    private Trial(FrameChannel<BenchMessage> control, ClientSession session, TestBed bed) {
        this.control = control;
        this.session = session;
        this.side = new TrialSide(bed);
    }

    /// Agrees on the plan with the server, and makes the connection.
    static Trial open(FrameChannel<BenchMessage> control, SessionOptions options, TrialPlan plan) {
        control.send(plan.toFrame());
        Frame<BenchMessage> agreed = control.expect(BenchMessage.OK, BenchMessage.FAILED);
        ClientSession session = ClientSession.connect(dataOptions(options, plan, agreed.number(0))
                .withName(NAME)
                .withChannels(plan.channels())
                .withConfigurer((index, proposed) -> plan.channel(index)));
        try {
            TestBed bed = new TestBed(session, session.endPoint(), plan);
            control.expect(BenchMessage.READY, BenchMessage.FAILED);
            return new Trial(control, session, bed);
        } catch (RuntimeException e) {
            session.close();
            throw explain(control, e);
        }
    }

    /// The options for the session of the plan's modes, which listens on a port of its own; without modes the session
    /// that also carries the control messages.
    private static SessionOptions dataOptions(SessionOptions options, TrialPlan plan, long port) {
        Modes modes = plan.modes();
        return modes == null
                ? options
                : modes.apply(options)
                        .withPort(Math.clamp(port, 0, TrialPlan.MAX_PORT))
                        .withConnectionPort(0);
    }

    /// Performs a step of `count` operations; see [Workload#initiate].
    ///
    /// @return the CPU time of both sides
    StepUse step(int count, StepMode mode, Readings readings) {
        try {
            return tryStep(count, mode, readings);
        } catch (CommandFailure e) {
            broken = true;
            throw e;
        } catch (CommException e) {
            broken = true;
            throw explain(control, e);
        }
    }

    private StepUse tryStep(int count, StepMode mode, Readings readings) {
        side.prepare(mode, count);
        control.send(Frame.of(BenchMessage.STEP, count, mode.code()));
        control.expect(BenchMessage.READY, BenchMessage.FAILED);
        CpuMeter meter = side.cpuMeter();
        side.initiate(mode, count, readings);
        CpuUse use = meter.read();
        control.send(Frame.of(BenchMessage.DONE));
        side.settle(mode);
        Frame<BenchMessage> report = control.expect(BenchMessage.REPORT, BenchMessage.FAILED);
        compilerNanos = CompilerTime.nanos() + report.number(1);
        side.verify(mode, count, side.plan().test().clientReceives());
        return new StepUse(use, new CpuUse(report.number(0), report.number(2)));
    }

    /// The compiler time of both sides at the end of the last step; see [CompilerTime#nanos()].
    long compilerNanos() {
        return compilerNanos;
    }

    /// How long the connection took to set up, from connecting the TCP socket until ready to send.
    Duration setUpTime() {
        return session.endPoint().setUpTime();
    }

    /// The server's explanation of a failure of which this side only saw the consequence, if it gives one.
    private static RuntimeException explain(FrameChannel<BenchMessage> control, RuntimeException failure) {
        try {
            Frame<BenchMessage> frame = control.receive(LAST_WORDS);
            if (frame.kind() == BenchMessage.FAILED) {
                return new CommandFailure("the peer reports: " + frame.text(), failure);
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
                control.send(Frame.of(BenchMessage.END));
                control.expect(BenchMessage.OK, BenchMessage.FAILED);
            }
        } finally {
            session.close();
        }
    }
}
