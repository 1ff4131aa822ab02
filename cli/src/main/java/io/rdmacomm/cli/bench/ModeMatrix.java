package io.rdmacomm.cli.bench;

import io.rdmacomm.cli.bench.result.BenchTest;
import io.rdmacomm.cli.bench.result.LatencySamples;
import io.rdmacomm.cli.bench.result.Modes;
import io.rdmacomm.cli.bench.result.TransportService;
import io.rdmacomm.cli.bench.trial.BenchServer;
import io.rdmacomm.cli.bench.trial.BenchSettings;
import io.rdmacomm.cli.bench.trial.StepUse;
import io.rdmacomm.cli.bench.trial.Trial;
import io.rdmacomm.cli.bench.trial.TrialRun;
import io.rdmacomm.cli.bench.workload.BenchMessage;
import io.rdmacomm.cli.bench.workload.TrialPlan;
import io.rdmacomm.cli.terminal.DeviceLine;
import io.rdmacomm.cli.wire.FrameChannel;
import io.rdmacomm.comm.ClientSession;
import io.rdmacomm.comm.SessionOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/// Measures all combinations of work mode and thread mode: round trips of a small message through blocking calls, and
/// the CPU time of both processes, while they exchange messages and while they wait. The active side; a
/// [BenchServer] is the passive one.
public final class ModeMatrix {
    /// The size of the message.
    static final long BYTES = 8;

    private static final int FIRST_FACTOR = 3;
    private static final int DEPTH = 16;
    private static final int WHOLE_ROUND_TRIP = 1;

    private final SessionOptions options;
    private final long nanos;
    private final long warmUpNanos;
    private final MatrixListener listener;

    /// A measurement against the server that `options` name.
    ///
    /// @param nanos how long to measure round trips in each combination, and then the wait
    /// @param warmUpNanos the minimum warm-up of each combination
    public ModeMatrix(SessionOptions options, long nanos, long warmUpNanos, MatrixListener listener) {
        this.options = options;
        this.nanos = nanos;
        this.warmUpNanos = warmUpNanos;
        this.listener = listener;
    }

    /// Measures all combinations. Blocks.
    public MatrixReport run() {
        try (ClientSession session = ClientSession.connect(options.withName(BenchServer.CONTROL));
                FrameChannel<BenchMessage> control =
                        BenchMessage.over(session, session.endPoint().channel(0))) {
            List<Modes> all = Modes.all();
            List<MatrixCell> cells = new ArrayList<>();
            for (Modes modes : all) {
                listener.onStart(cells.size() + 1, all.size(), modes);
                MatrixCell cell =
                        measure(control, session, modes, cells.isEmpty() ? FIRST_FACTOR * warmUpNanos : warmUpNanos);
                listener.onCell(cell);
                cells.add(cell);
            }
            return new MatrixReport(session.context().device().provider(), DeviceLine.of(session), cells);
        }
    }

    private MatrixCell measure(FrameChannel<BenchMessage> control, ClientSession session, Modes modes, long warmUp) {
        BenchSettings settings = new BenchSettings(
                List.of(BenchTest.SEND_LAT),
                List.of(BYTES),
                0,
                nanos,
                warmUp,
                warmUp,
                DEPTH,
                1,
                0,
                false,
                false,
                true,
                modes,
                TransportService.RC);
        TrialPlan plan = settings.plan(
                BenchTest.SEND_LAT, BYTES, ThreadLocalRandom.current().nextLong());
        try (Trial trial = Trial.open(control, session, options, plan)) {
            TrialRun run = new TrialRun(trial, plan, settings);
            double nanosPerRoundTrip = run.warmUp(warmUp);
            LatencySamples samples = new LatencySamples(WHOLE_ROUND_TRIP);
            StepUse busy = run.sample(samples, nanosPerRoundTrip);
            StepUse idle = run.idle((int) Math.max(1, nanos / 1_000_000));
            return new MatrixCell(modes, samples, busy, idle);
        }
    }
}
