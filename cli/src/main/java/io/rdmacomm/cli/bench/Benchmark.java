package io.rdmacomm.cli.bench;

import io.rdmacomm.cli.bench.trial.BenchMessage;
import io.rdmacomm.cli.bench.trial.BenchServer;
import io.rdmacomm.cli.bench.trial.BenchSettings;
import io.rdmacomm.cli.bench.trial.ClockCost;
import io.rdmacomm.cli.bench.trial.Floor;
import io.rdmacomm.cli.bench.trial.MachineFloors;
import io.rdmacomm.cli.bench.trial.Result;
import io.rdmacomm.cli.bench.trial.SocketFloor;
import io.rdmacomm.cli.bench.trial.TransportService;
import io.rdmacomm.cli.bench.trial.Trial;
import io.rdmacomm.cli.bench.trial.TrialPlan;
import io.rdmacomm.cli.bench.trial.TrialRun;
import io.rdmacomm.cli.command.CloseOnExit;
import io.rdmacomm.cli.command.DeviceLine;
import io.rdmacomm.cli.rig.Frame;
import io.rdmacomm.cli.rig.FrameChannel;
import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.verbs.PathOptions;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/// The active side of a benchmark. It keeps one connection for control messages, and opens another one for each
/// test and message size.
public final class Benchmark {
    private static final int FIRST_TEST_FACTOR = 3;
    private static final long SMALL_BYTES = 4096;

    private final SessionOptions options;
    private final BenchSettings settings;
    private final BenchListener listener;

    /// A benchmark against the server that `options` names.
    public Benchmark(SessionOptions options, BenchSettings settings, BenchListener listener) {
        this.options = options;
        this.settings = settings;
        this.listener = listener;
    }

    /// Runs all tests. Blocks.
    public BenchReport run() throws IOException {
        try (ClientSession session = ClientSession.connect(options.withName(BenchServer.CONTROL));
                FrameChannel<BenchMessage> control =
                        BenchMessage.over(session, session.endPoint().channel(0));
                CloseOnExit _ = new CloseOnExit(session::close)) {
            checkDevice(session);
            MachineFloors floors = measureFloors(session, control);
            listener.onFloors(floors);
            TrialFloors trialFloors = new TrialFloors(session, floors);
            List<Result> results = new ArrayList<>();
            List<Duration> setupTimes = new ArrayList<>();
            List<TrialPlan> plans = settings.plans();
            TrialPlan previous = null;
            for (TrialPlan plan : plans) {
                long warmUp = settings.warmUpNanos();
                if (previous == null
                        || previous.test() != plan.test()
                        || !Objects.equals(previous.modes(), plan.modes())) {
                    // The first test also warms up the code that all tests share.
                    warmUp = (previous == null ? FIRST_TEST_FACTOR : 1) * settings.firstWarmUpNanos();
                    if (plan.bytes() > SMALL_BYTES) {
                        warmUp(control, session, plan.withBytes(SMALL_BYTES), warmUp);
                    }
                }
                previous = plan;
                listener.onStart(results.size() + 1, plans.size(), plan);
                Floor floor = settings.floors() ? trialFloors.of(plan) : Floor.UNKNOWN;
                try (Trial trial = Trial.open(control, session, options, plan)) {
                    setupTimes.add(trial.setupTime());
                    Result result = new TrialRun(trial, plan, settings).measure(warmUp, floor);
                    listener.onResult(result);
                    results.add(result);
                }
            }
            // Measured again, because machines change their speed.
            SocketFloor.Figures socketAtEnd =
                    settings.floors() ? measureSocket(session, control) : SocketFloor.Figures.NONE;
            String provider = session.context().device().provider();
            return new BenchReport(
                    provider,
                    DeviceLine.of(session),
                    settings.blockingModes(),
                    floors,
                    socketAtEnd,
                    setupTimes,
                    results);
        }
    }

    private void checkDevice(ClientSession session) {
        TransportService service = settings.service();
        if (!service.isReliable()) {
            PathOptions path = session.options().channel().connection().path();
            int longest = Math.min(
                    path.mtu().bytes(),
                    session.context().port(path.port()).activeMtu().bytes());
            service.check(session.context(), settings.sizes(), longest);
        }
    }

    /// Warms up with small messages: the JIT compiler counts operations, and there are few when each moves much
    /// data.
    private void warmUp(FrameChannel<BenchMessage> control, ClientSession session, TrialPlan plan, long nanos) {
        try (Trial trial = Trial.open(control, session, options, plan)) {
            new TrialRun(trial, plan, settings).warmUp(nanos);
        }
    }

    private MachineFloors measureFloors(ClientSession session, FrameChannel<BenchMessage> control) throws IOException {
        return settings.floors()
                ? MachineFloors.measure(control, measureSocket(session, control))
                : new MachineFloors(ClockCost.measure(), 0, SocketFloor.Figures.NONE);
    }

    /// Returns no figures if the socket cannot be reached, for example behind a firewall that allows only the
    /// benchmark's own port.
    private SocketFloor.Figures measureSocket(ClientSession session, FrameChannel<BenchMessage> control) {
        control.send(Frame.of(BenchMessage.SOCKET));
        int port = (int) control.expect(BenchMessage.READY, BenchMessage.FAILED).number(0);
        SocketFloor.Figures figures;
        try {
            figures =
                    SocketFloor.measure(new InetSocketAddress(session.endPoint().remoteAddress(), port));
        } catch (IOException _) {
            figures = SocketFloor.Figures.NONE;
        }
        // This is OK, or FAILED if the server has given up waiting for a client that could not connect.
        control.receive();
        return figures;
    }
}
