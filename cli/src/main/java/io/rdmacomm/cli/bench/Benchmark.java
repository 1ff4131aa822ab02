package io.rdmacomm.cli.bench;

import io.rdmacomm.cli.terminal.DeviceLine;
import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.SessionOptions;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/// The active end of a benchmark: one connection to talk, and for every test and size one more that is
/// measured.
public final class Benchmark {
    /// How the session that talks is called, for the server.
    static final String NAME = "bench control";

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

    /// Measures everything.
    public BenchReport run() throws IOException {
        try (ClientSession session = ClientSession.connect(options.withName(NAME));
                SignalChannel signals =
                        new SignalChannel(session, session.endPoint().channel(0), "bench signals")) {
            MachineFloors floors = floors(signals);
            listener.onFloor(floors);
            TrialFloors limits = new TrialFloors(session, floors);
            List<Result> results = new ArrayList<>();
            List<Double> setUps = new ArrayList<>();
            // The first test also warms up what all of them use.
            long firstWarmUp = FIRST_TEST_FACTOR * settings.firstWarmUpNanos();
            for (BenchTest test : settings.tests()) {
                long warmUp = firstWarmUp;
                firstWarmUp = settings.firstWarmUpNanos();
                if (settings.sizes(test).getFirst() > SMALL_BYTES) {
                    warmUp(signals, test, warmUp);
                }
                for (long bytes : settings.sizes(test)) {
                    listener.onStart(results.size() + 1, settings.count(), test, bytes);
                    Result result = measure(limits, signals, test, bytes, warmUp, setUps);
                    listener.onResult(result);
                    results.add(result);
                    warmUp = settings.warmUpNanos();
                }
            }
            // A machine is not equally fast all the time: the second figure tells.
            SocketFigures end = settings.floors() ? socket(signals) : SocketFigures.NONE;
            String provider = session.context().device().provider();
            return new BenchReport(provider, DeviceLine.of(session), floors, end, setUps, results);
        }
    }

    /// The compiler counts operations, of which there are few when each of them moves much.
    private void warmUp(SignalChannel signals, BenchTest test, long nanos) {
        TrialPlan plan =
                settings.plan(test, SMALL_BYTES, ThreadLocalRandom.current().nextLong());
        try (Trial trial = Trial.open(signals, options, plan)) {
            new TrialRun(trial, plan, settings).warmUp(nanos);
        }
    }

    private Result measure(
            TrialFloors limits,
            SignalChannel signals,
            BenchTest test,
            long bytes,
            long warmUpNanos,
            List<Double> setUps) {
        TrialPlan plan = settings.plan(test, bytes, ThreadLocalRandom.current().nextLong());
        double floor = settings.floors() ? limits.of(plan) : 0;
        try (Trial trial = Trial.open(signals, options, plan)) {
            setUps.add(trial.setUpNanos() / 1e6);
            TrialRun run = new TrialRun(trial, plan, settings);
            return switch (test.kind()) {
                case LATENCY -> run.latency(warmUpNanos, floor);
                case BANDWIDTH -> run.bandwidth(warmUpNanos, floor);
            };
        }
    }

    private MachineFloors floors(SignalChannel signals) throws IOException {
        ClockCost clock = ClockCost.measure();
        if (!settings.floors()) {
            return new MachineFloors(clock, 0, SocketFigures.NONE);
        }
        return new MachineFloors(clock, cacheLine(signals), socket(signals));
    }

    /// Nothing is measured where a firewall lets only the port of the benchmark through.
    private SocketFigures socket(SignalChannel signals) {
        signals.send(Signal.of(Signal.Kind.SOCKET));
        int port = (int) (long) signals.expect(Signal.Kind.READY).getFirst();
        SocketFigures figures;
        try {
            figures = SocketFloor.measure(new InetSocketAddress(options.host(), port));
        } catch (IOException _) {
            figures = SocketFigures.NONE;
        }
        // The server may still wait for a client that cannot come: it says so when it gives up.
        signals.receive(SignalChannel.PATIENCE);
        return figures;
    }

    private static double cacheLine(SignalChannel signals) throws IOException {
        try (CacheLineFloor floor = CacheLineFloor.create()) {
            signals.send(Signal.text(Signal.Kind.FLOOR, floor.name()));
            // A peer on another machine does not find the file, and says so.
            boolean here = signals.receive(SignalChannel.PATIENCE).kind() == Signal.Kind.READY;
            return here ? floor.measure() : 0;
        }
    }
}
