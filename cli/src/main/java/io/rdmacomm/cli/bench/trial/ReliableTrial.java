package io.rdmacomm.cli.bench.trial;

import io.rdmacomm.cli.command.AddressText;
import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.cli.command.OnFailure;
import io.rdmacomm.cli.rig.Frame;
import io.rdmacomm.cli.rig.FrameChannel;
import io.rdmacomm.cli.rig.WatchedSocket;
import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.verbs.RdmaException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;

/// A trial over the channels of a session, or over a socket.
final class ReliableTrial implements Trial {
    private static final Duration LAST_WORDS = Duration.ofSeconds(1);

    private final FrameChannel<BenchMessage> control;
    private final TrialSide side;
    private final Duration setupTime;
    private final Runnable disconnect;
    private long compilerNanos;
    private int completed;
    private boolean broken;

    private ReliableTrial(FrameChannel<BenchMessage> control, TrialSide side, Duration setupTime, Runnable disconnect) {
        this.control = control;
        this.side = side;
        this.setupTime = setupTime;
        this.disconnect = disconnect;
    }

    /// See [Trial#open]. Over a socket.
    static ReliableTrial overSocket(FrameChannel<BenchMessage> control, ClientSession session, TrialPlan plan) {
        control.send(plan.toFrame());
        int port = (int) control.expect(BenchMessage.OK, BenchMessage.FAILED).number(0);
        InetSocketAddress server =
                new InetSocketAddress(session.endPoint().remoteAddress(), Math.clamp(port, 0, TrialPlan.MAX_PORT));
        TrialSockets sockets = new TrialSockets(plan, session.context());
        return OnFailure.run(sockets::close, () -> {
            long begin = System.nanoTime();
            WatchedSocket socket = connect(sockets, server, plan);
            Duration setupTime = Duration.ofNanos(System.nanoTime() - begin);
            Runnable disconnect = () -> {
                socket.close();
                sockets.close();
            };
            return OnFailure.run(socket::close, () -> {
                control.expect(BenchMessage.READY, BenchMessage.FAILED);
                return new ReliableTrial(control, new SocketSide(plan, socket), setupTime, disconnect);
            });
        });
    }

    private static WatchedSocket connect(TrialSockets sockets, InetSocketAddress server, TrialPlan plan) {
        try {
            return sockets.connect(server);
        } catch (IOException e) {
            throw new CommandFailure(
                    plan.test().label() + " cannot connect to " + AddressText.of(server) + ": " + e.getMessage()
                            + "; it uses any free port of the server, and an address of the device",
                    e);
        }
    }

    /// See [Trial#open]. Over the channels of a session.
    static ReliableTrial open(FrameChannel<BenchMessage> control, SessionOptions options, TrialPlan plan) {
        control.send(plan.toFrame());
        Frame<BenchMessage> agreed = control.expect(BenchMessage.OK, BenchMessage.FAILED);
        ClientSession session = ClientSession.connect(dataOptions(options, plan, agreed.number(0))
                .withName(NAME)
                .withChannels(plan.channels())
                .withConfigurer(plan::channel));
        try {
            TestBed bed = new TestBed(session, session.endPoint(), plan);
            control.expect(BenchMessage.READY, BenchMessage.FAILED);
            return new ReliableTrial(
                    control, new ChannelSide(bed), session.endPoint().setupTime(), session::close);
        } catch (RuntimeException e) {
            session.close();
            throw explain(control, e);
        }
    }

    /// The options of a separate session on its own port, with the plan's modes; without modes, those of the
    /// session with the control messages.
    private static SessionOptions dataOptions(SessionOptions options, TrialPlan plan, long port) {
        Modes modes = plan.modes();
        return modes == null
                ? options
                : modes.apply(options)
                        .withPort(Math.clamp(port, 0, TrialPlan.MAX_PORT))
                        .withConnectionPort(0);
    }

    @Override
    public StepUse step(int count, StepMode mode, Readings readings) {
        try {
            return tryStep(count, mode, readings);
        } catch (CommandFailure e) {
            broken = true;
            throw e;
        } catch (RdmaException e) {
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
        StepUse.CpuUse use = meter.read();
        control.send(Frame.of(BenchMessage.DONE));
        side.endStep(mode);
        Frame<BenchMessage> report = control.expect(BenchMessage.REPORT, BenchMessage.FAILED);
        compilerNanos = CompilerTime.nanos() + report.number(1);
        side.verify(mode, count, side.plan().test().clientReceives());
        completed = count;
        return new StepUse(use, new StepUse.CpuUse(report.number(0), report.number(2)));
    }

    @Override
    public double cacheLineMicros() throws IOException {
        return CacheLineFloor.measure(control, CacheLineFloor::median);
    }

    @Override
    public int completed() {
        return completed;
    }

    @Override
    public long compilerNanos() {
        return compilerNanos;
    }

    /// From connecting a TCP socket until ready to send.
    @Override
    public Duration setupTime() {
        return setupTime;
    }

    @Override
    public Result.Losses losses() {
        return Result.Losses.NONE;
    }

    /// The failure that the server reports, if any: this side may have seen only its consequence.
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
            disconnect.run();
        }
    }
}
