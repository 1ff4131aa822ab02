package io.rdmacomm.cli.bench;

import io.rdmacomm.cli.terminal.CommandFailure;
import io.rdmacomm.cli.terminal.FailureText;
import io.rdmacomm.comm.ChannelOptions;
import io.rdmacomm.comm.ClosedException;
import io.rdmacomm.comm.DeadlineException;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.PeerClosedException;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.verbs.RdmaException;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// The passive end of a benchmark: serves one client after another, and does what the client says.
public final class BenchServer implements AutoCloseable {
    private static final Duration NEXT_CLIENT = Duration.ofHours(1);
    private static final Duration DATA_CONNECTION = Duration.ofSeconds(30);

    private final ServerSession session;
    private final PrintWriter log;
    private volatile @Nullable TrialPlan plan;

    /// Listens.
    ///
    /// @param options where to listen and on which device
    /// @param log where failures of single clients are told
    public BenchServer(SessionOptions options, PrintWriter log) {
        this.log = log;
        this.session = ServerSession.listen(options.withName("bench server")
                .withMaxChannels(TrialPlan.MAX_QUEUE_PAIRS)
                .withConfigurer(this::configure));
    }

    /// Where it listens.
    public int port() {
        return session.port();
    }

    /// Serves clients until it is closed, or only one.
    public void run(boolean once) {
        boolean served = false;
        while (!(once && served) && session.isOpen()) {
            try (EndPoint client = session.accept(NEXT_CLIENT)) {
                if (client.peerName().equals(Benchmark.NAME)) {
                    served = true;
                    serve(client);
                }
            } catch (DeadlineException _) {
                // Nobody came: go on waiting.
            } catch (ClosedException e) {
                if (session.isOpen()) {
                    complain(e);
                }
            } catch (RdmaException | CommandFailure e) {
                complain(e);
            }
        }
    }

    private void complain(RuntimeException failure) {
        log.println("rdmacomm bench: a client failed: " + FailureText.of(failure));
        log.flush();
    }

    private ChannelOptions configure(int index, ChannelOptions proposed) {
        TrialPlan current = plan;
        return current == null ? proposed : current.channel(index);
    }

    private void serve(EndPoint client) {
        try (SignalChannel signals = new SignalChannel(session, client.channel(0), "bench signals")) {
            while (true) {
                Signal signal;
                try {
                    signal = signals.receive(SignalChannel.PATIENCE);
                } catch (ClosedException | PeerClosedException _) {
                    return;
                }
                try {
                    answer(signal, signals);
                } catch (RdmaException | CommandFailure | IllegalArgumentException | IOException e) {
                    signals.send(Signal.text(Signal.Kind.FAILED, FailureText.of(e)));
                }
            }
        }
    }

    private void answer(Signal signal, SignalChannel signals) throws IOException {
        switch (signal.kind()) {
            case FLOOR -> floor(signal.text(), signals);
            case SOCKET -> socket(signals);
            case TRIAL -> trial(TrialPlan.of(signal), signals);
            default -> throw new CommandFailure("the client sent " + signal.kind() + " out of turn");
        }
    }

    private static void floor(String name, SignalChannel signals) throws IOException {
        try (CacheLineFloor floor = CacheLineFloor.open(name)) {
            signals.send(Signal.of(Signal.Kind.READY));
            floor.serve();
        }
    }

    private static void socket(SignalChannel signals) throws IOException {
        try (SocketFloor floor = new SocketFloor()) {
            signals.send(Signal.of(Signal.Kind.READY, floor.port()));
            floor.serve();
        }
        signals.send(Signal.of(Signal.Kind.OK));
    }

    private void trial(TrialPlan wanted, SignalChannel signals) {
        plan = wanted;
        try {
            signals.send(Signal.of(Signal.Kind.OK));
            try (EndPoint data = session.accept(DATA_CONNECTION)) {
                if (!data.peerName().equals(Trial.NAME)) {
                    throw new CommandFailure("another client came in between: try again when it has finished");
                }
                try (TestBed bed = new TestBed(session, data, wanted)) {
                    signals.send(Signal.of(Signal.Kind.READY));
                    steps(bed, signals);
                }
            }
        } finally {
            plan = null;
        }
    }

    private static void steps(TestBed bed, SignalChannel signals) {
        Workload workload = Workload.of(bed);
        while (true) {
            Signal signal = signals.receive(SignalChannel.PATIENCE);
            if (signal.kind() == Signal.Kind.END) {
                signals.send(Signal.of(Signal.Kind.OK));
                return;
            }
            if (signal.kind() != Signal.Kind.STEP) {
                throw new CommandFailure("the client sent " + signal.kind() + " instead of a step");
            }
            step(bed, workload, (int) signal.number(0), StepMode.of(signal.number(1)), signals);
        }
    }

    private static void step(TestBed bed, Workload workload, int count, StepMode mode, SignalChannel signals) {
        mode.prepare(bed, workload, count);
        long processor = ProcessorTime.nanos();
        signals.send(Signal.of(Signal.Kind.READY));
        if (bed.plan().bidirectional()) {
            workload.initiate(count, new long[2]);
        } else {
            workload.answer(count);
        }
        signals.expect(Signal.Kind.DONE);
        processor = ProcessorTime.nanos() - processor;
        bed.settle();
        bed.checkWork();
        boolean receives = bed.plan().test().serverReceives() || bed.plan().bidirectional();
        String complaint = mode != StepMode.WARM_UP && receives ? workload.findCorruption(count) : "";
        if (!complaint.isEmpty()) {
            throw new CommandFailure(
                    bed.plan().test().label() + " of " + bed.plan().bytes() + " bytes: " + complaint);
        }
        if (mode == StepMode.WARM_UP) {
            CompilerTime.awaitRest(Trial.COMPILER_NANOS);
        }
        signals.send(Signal.of(Signal.Kind.REPORT, processor, CompilerTime.nanos()));
    }

    @Override
    public void close() {
        session.close();
    }
}
