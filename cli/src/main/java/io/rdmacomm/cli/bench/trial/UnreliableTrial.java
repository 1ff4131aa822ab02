package io.rdmacomm.cli.bench.trial;

import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.cli.command.OnFailure;
import io.rdmacomm.cli.rig.Frame;
import io.rdmacomm.cli.rig.FrameChannel;
import io.rdmacomm.cli.rig.ReceivedNumbers;
import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.verbs.DeviceChoice;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;

/// A trial over a transport that can lose messages. Steps begin and end with reliable control messages, which
/// report how many messages each side has sent and received. A latency test ends its step at the first loss, and
/// [TrialRun] begins another one.
final class UnreliableTrial implements Trial {
    private static final int MOST_BARREN_STEPS = 20;

    private final FrameChannel<BenchMessage> control;
    private final UnreliablePair pair;
    private final UnreliableWait waits;
    private final boolean latency;
    private final Duration setupTime;
    private int steps;
    private int barrenSteps;
    private int completed;
    private long compilerNanos;
    private Result.Losses losses = Result.Losses.NONE;
    private boolean broken;

    private UnreliableTrial(FrameChannel<BenchMessage> control, UnreliablePair pair, long setupNanos, long lostNanos) {
        this.control = control;
        this.pair = pair;
        this.waits = new UnreliableWait(pair, lostNanos);
        this.latency = pair.plan().test().kind() == BenchTest.Kind.LATENCY;
        this.setupTime = Duration.ofNanos(setupNanos);
    }

    /// See [Trial#open].
    static UnreliableTrial open(
            FrameChannel<BenchMessage> control, ClientSession session, SessionOptions options, TrialPlan plan) {
        return open(control, session, options, plan, UnreliableWait.LOST_NANOS);
    }

    /// @param lostNanos the time after which a message counts as lost
    static UnreliableTrial open(
            FrameChannel<BenchMessage> control,
            ClientSession session,
            SessionOptions options,
            TrialPlan plan,
            long lostNanos) {
        long begin = System.nanoTime();
        InetSocketAddress server = new InetSocketAddress(session.endPoint().remoteAddress(), options.port());
        UnreliablePair pair = new UnreliablePair(
                session.context(), plan, UnreliableServer.path(session, DeviceChoice.localAddress(server)));
        return OnFailure.run(pair::close, () -> {
            control.send(plan.toFrame());
            control.expect(BenchMessage.OK, BenchMessage.FAILED);
            control.send(pair.address(literal(server.getAddress())));
            Frame<BenchMessage> peer = control.expect(BenchMessage.QUEUE_PAIR, BenchMessage.FAILED);
            plan.service()
                    .check(
                            session.context(),
                            List.of(plan.bytes()),
                            UnreliablePair.mtu(peer).bytes());
            ReceivedNumbers.check(UnreliablePair.info(peer), session.endPoint());
            pair.connect(peer);
            return new UnreliableTrial(control, pair, System.nanoTime() - begin, lostNanos);
        });
    }

    /// The address without an interface name, because the server may not have that interface.
    private static String literal(InetAddress address) {
        return address.getHostAddress().replaceFirst("%.*", "");
    }

    @Override
    public StepUse step(int count, StepMode mode, Readings readings) {
        boolean done = false;
        try {
            StepUse use = tryStep(count, mode, readings);
            done = true;
            return use;
        } finally {
            broken |= !done;
        }
    }

    private StepUse tryStep(int count, StepMode mode, Readings readings) {
        pair.begin(++steps, mode == StepMode.CHECK ? 0 : count - 1);
        control.send(Frame.of(BenchMessage.STEP, count, mode.code(), steps));
        control.expect(BenchMessage.READY, BenchMessage.FAILED);
        CpuMeter meter = new CpuMeter(CpuTime::ofJavaThreads);
        int laps = latency ? roundTrips(count, readings) : stream(count, readings);
        StepUse.CpuUse use = meter.read();
        control.send(Frame.of(BenchMessage.DONE, pair.sent()));
        Frame<BenchMessage> report = control.expect(BenchMessage.REPORT, BenchMessage.FAILED);
        waits.forMessages(report.number(3));
        if (mode == StepMode.WARM_UP) {
            CompilerTime.awaitIdle();
        }
        compilerNanos = CompilerTime.nanos() + report.number(1);
        pair.verify();
        count(mode, report);
        completed = latency ? laps : Math.toIntExact(report.number(4));
        return new StepUse(use, new StepUse.CpuUse(report.number(0), report.number(2)));
    }

    private void count(StepMode mode, Frame<BenchMessage> report) {
        if (mode == StepMode.MEASURE) {
            losses = losses.plus(new Result.Losses(pair.sent() + report.number(3), pair.received() + report.number(4)));
        }
        barrenSteps = report.number(4) + pair.received() == 0 ? barrenSteps + 1 : 0;
        if (barrenSteps == MOST_BARREN_STEPS) {
            throw new CommandFailure("no message of " + pair.plan().test().label() + " over "
                    + pair.plan().service().label() + " arrived in " + MOST_BARREN_STEPS
                    + " attempts: does the network between the hosts carry these packets? RoCE uses UDP port 4791, a"
                    + " software device the UDP ports that `rdmacomm info` shows as LID");
        }
    }

    /// Makes round trips until the first message is lost.
    ///
    /// @return the number of answers
    private int roundTrips(int count, Readings readings) {
        readings.begin();
        int laps = 0;
        while (laps < count) {
            waits.forSends(pair.depth() - 1);
            pair.post(1);
            if (!waits.forMessages(laps + 1L)) {
                break;
            }
            readings.lap();
            laps++;
        }
        readings.end();
        waits.forSends(0);
        return laps;
    }

    /// Sends messages in one direction, until all have been sent.
    private int stream(int count, Readings readings) {
        int chain = pair.plan().chainLength();
        readings.begin();
        for (int posted = 0; posted < count; ) {
            int next = Math.min(chain, count - posted);
            waits.forSends(pair.depth() - next);
            pair.post(next);
            posted += next;
        }
        waits.forSends(0);
        readings.end();
        return count;
    }

    @Override
    public int completed() {
        return completed;
    }

    @Override
    public long compilerNanos() {
        return compilerNanos;
    }

    /// From the first message about the plan until ready to send.
    @Override
    public Duration setupTime() {
        return setupTime;
    }

    @Override
    public Result.Losses losses() {
        return losses;
    }

    @Override
    public void close() {
        try {
            if (!broken) {
                control.send(Frame.of(BenchMessage.END));
                control.expect(BenchMessage.OK, BenchMessage.FAILED);
            }
        } finally {
            pair.close();
        }
    }
}
