package io.rdmacomm.cli.bench.trial;

import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.cli.command.CommandOutput;
import io.rdmacomm.cli.command.FailureText;
import io.rdmacomm.cli.rig.Clients;
import io.rdmacomm.cli.rig.Frame;
import io.rdmacomm.cli.rig.FrameChannel;
import io.rdmacomm.cli.rig.WatchedSocket;
import io.rdmacomm.comm.ChannelOptions;
import io.rdmacomm.comm.ClosedException;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.PeerDoneException;
import io.rdmacomm.comm.PeerFailedException;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.verbs.RdmaException;
import java.io.IOException;
import java.nio.channels.ServerSocketChannel;
import java.time.Duration;
import java.util.Map;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/// The passive side of a benchmark. Serves one client after another, and does what each asks for.
public final class BenchServer implements AutoCloseable {
    /// The name of the sessions with control messages.
    public static final String CONTROL = "bench control";

    private static final Duration DATA_CONNECTION = Duration.ofSeconds(30);

    private final SessionOptions options;
    private final ServerSession session;
    private final CommandOutput output;
    private final Map<String, BiConsumer<ServerSession, EndPoint>> guests;
    private volatile @Nullable TrialPlan plan;

    /// Starts to listen.
    ///
    /// @param options where to listen and on which device
    /// @param output shows failed clients
    public BenchServer(SessionOptions options, CommandOutput output) {
        this(options, output, Map.of());
    }

    /// Starts to listen, for clients of other kinds as well.
    ///
    /// @param options where to listen and on which device
    /// @param output shows failed clients
    /// @param guests serve the clients with their names, each client in its own thread
    public BenchServer(
            SessionOptions options, CommandOutput output, Map<String, BiConsumer<ServerSession, EndPoint>> guests) {
        this.output = output;
        this.guests = Map.copyOf(guests);
        this.options = options.withName("bench server").withMaxChannels(TrialPlan.MAX_QUEUE_PAIRS);
        this.session = ServerSession.listen(this.options.withConfigurer(this::configure));
    }

    /// The TCP port that the server listens on.
    public int port() {
        return session.port();
    }

    /// Serves clients until the server is closed, or only one client. Blocks.
    public void run(boolean once) {
        boolean served = false;
        while (!(once && served)) {
            try {
                EndPoint client = Clients.next(session);
                if (client == null) {
                    return;
                }
                served |= client.peerName().equals(CONTROL);
                welcome(client);
            } catch (RdmaException | CommandFailure e) {
                complain(e);
            }
        }
    }

    private void welcome(EndPoint client) {
        BiConsumer<ServerSession, EndPoint> host = guests.get(client.peerName());
        if (host != null) {
            Thread.ofPlatform().daemon().name(client.peerName()).start(() -> serve(client, host));
        } else if (client.peerName().equals(CONTROL)) {
            serve(client, (_, endPoint) -> serve(endPoint));
        } else {
            client.close();
        }
    }

    private void serve(EndPoint endPoint, BiConsumer<ServerSession, EndPoint> host) {
        try (EndPoint client = endPoint) {
            host.accept(session, client);
        } catch (RdmaException | CommandFailure e) {
            complain(e);
        }
    }

    private void complain(RuntimeException failure) {
        if (session.isOpen() && !isOfClientThatLeft(failure)) {
            output.complain("a client failed: " + FailureText.of(failure));
        }
    }

    /// Ctrl-C at a client is not a failure.
    private static boolean isOfClientThatLeft(Throwable failure) {
        Throwable cause = failure.getCause();
        return failure instanceof PeerDoneException || (cause != null && isOfClientThatLeft(cause));
    }

    private ChannelOptions configure(int index, ChannelOptions proposed) {
        TrialPlan current = plan;
        return current == null ? proposed : current.channel(index, proposed);
    }

    private void serve(EndPoint client) {
        try (FrameChannel<BenchMessage> control = BenchMessage.over(session, client.channel(0))) {
            while (true) {
                Frame<BenchMessage> request;
                try {
                    request = control.receive();
                } catch (ClosedException | PeerFailedException _) {
                    return;
                }
                try {
                    answer(request, client, control);
                } catch (RuntimeException | IOException e) {
                    control.send(Frame.of(BenchMessage.FAILED, FailureText.of(e)));
                }
            }
        }
    }

    private void answer(Frame<BenchMessage> request, EndPoint client, FrameChannel<BenchMessage> control)
            throws IOException {
        switch (request.kind()) {
            case FLOOR -> CacheLineFloor.serve(control);
            case SOCKET -> serveSocketFloor(client, control);
            case TRIAL -> serveTrial(TrialPlan.of(request), client, control);
            default -> throw unexpected(request);
        }
    }

    private void serveSocketFloor(EndPoint client, FrameChannel<BenchMessage> control) throws IOException {
        try (SocketFloor floor = new SocketFloor(options.host(), client.remoteAddress())) {
            control.send(Frame.of(BenchMessage.READY, floor.port()));
            floor.serve();
        }
        control.send(Frame.of(BenchMessage.OK));
    }

    private void serveTrial(TrialPlan wanted, EndPoint client, FrameChannel<BenchMessage> control) throws IOException {
        if (wanted.test().usesSocket()) {
            serveSocket(wanted, client, control);
            return;
        }
        if (!wanted.service().isReliable()) {
            UnreliableServer.serve(session, client, wanted, control);
            return;
        }
        Modes modes = wanted.modes();
        if (modes != null) {
            serveInModes(wanted, modes, control);
            return;
        }
        plan = wanted;
        try {
            serveTrial(wanted, session, control);
        } finally {
            plan = null;
        }
    }

    private void serveSocket(TrialPlan wanted, EndPoint client, FrameChannel<BenchMessage> control) throws IOException {
        try (TrialSockets sockets = new TrialSockets(wanted, session.context());
                ServerSocketChannel listener = sockets.listen(options.host(), client.remoteAddress())) {
            control.send(Frame.of(BenchMessage.OK, listener.socket().getLocalPort()));
            try (WatchedSocket socket = sockets.accept(listener)) {
                control.send(Frame.of(BenchMessage.READY));
                serveSteps(new SocketSide(wanted, socket), control);
            }
        }
    }

    /// Serves a trial in a separate session, because modes apply to a whole session.
    private void serveInModes(TrialPlan wanted, Modes modes, FrameChannel<BenchMessage> control) throws IOException {
        SessionOptions own = modes.apply(options).withPort(0).withConnectionPort(0);
        try (ServerSession data = ServerSession.listen(own.withConfigurer(wanted::channel))) {
            serveTrial(wanted, data, control);
        }
    }

    private static void serveTrial(TrialPlan wanted, ServerSession from, FrameChannel<BenchMessage> control)
            throws IOException {
        control.send(Frame.of(BenchMessage.OK, from.port()));
        try (EndPoint data = from.accept(DATA_CONNECTION)) {
            if (!data.peerName().equals(Trial.NAME)) {
                throw new CommandFailure("another client connected: try again when it has finished");
            }
            try (TestBed bed = new TestBed(from, data, wanted)) {
                control.send(Frame.of(BenchMessage.READY));
                serveSteps(new ChannelSide(bed), control);
            }
        }
    }

    private static void serveSteps(TrialSide side, FrameChannel<BenchMessage> control) throws IOException {
        while (true) {
            Frame<BenchMessage> request = control.receive();
            switch (request.kind()) {
                case STEP -> serveStep(side, (int) request.number(0), StepMode.of(request.number(1)), control);
                case FLOOR -> CacheLineFloor.serve(control);
                case END -> {
                    control.send(Frame.of(BenchMessage.OK));
                    return;
                }
                default -> throw unexpected(request);
            }
        }
    }

    private static void serveStep(TrialSide side, int count, StepMode mode, FrameChannel<BenchMessage> control) {
        side.prepare(mode, count);
        CpuMeter meter = side.cpuMeter();
        control.send(Frame.of(BenchMessage.READY));
        side.answer(mode, count);
        control.expect(BenchMessage.DONE, BenchMessage.FAILED);
        StepUse.CpuUse use = meter.read();
        side.endStep(mode);
        side.verify(mode, count, side.plan().test().serverReceives());
        control.send(Frame.of(BenchMessage.REPORT, use.cpuNanos(), CompilerTime.nanos(), use.nanos()));
    }

    private static CommandFailure unexpected(Frame<BenchMessage> request) {
        return new CommandFailure("the client sent an unexpected " + request.kind() + " message");
    }

    @Override
    public void close() {
        session.close();
    }
}
