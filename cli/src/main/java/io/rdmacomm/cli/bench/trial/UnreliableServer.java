package io.rdmacomm.cli.bench.trial;

import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.cli.rig.Frame;
import io.rdmacomm.cli.rig.FrameChannel;
import io.rdmacomm.cli.rig.ReceivedNumbers;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.Session;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.DeadlineException;
import io.rdmacomm.verbs.PathOptions;
import java.net.InetAddress;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// The passive side of an [UnreliableTrial].
final class UnreliableServer {
    /// After a silence this long, the client may have ended the step.
    private static final long SILENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    private static final Duration MOMENT = Duration.ofMillis(1);

    private final FrameChannel<BenchMessage> control;
    private final UnreliablePair pair;
    private final UnreliableWait waits;
    private final boolean latency;

    private UnreliableServer(FrameChannel<BenchMessage> control, UnreliablePair pair) {
        this.control = control;
        this.pair = pair;
        this.waits = new UnreliableWait(pair);
        this.latency = pair.plan().test().kind() == BenchTest.Kind.LATENCY;
    }

    /// Serves a trial. Blocks until the client ends it.
    ///
    /// @param endPoint the client
    static void serve(Session session, EndPoint endPoint, TrialPlan plan, FrameChannel<BenchMessage> control) {
        control.send(Frame.of(BenchMessage.OK, 0));
        Frame<BenchMessage> client = control.expect(BenchMessage.QUEUE_PAIR, BenchMessage.FAILED);
        ReceivedNumbers.check(UnreliablePair.info(client), endPoint);
        ConnectionOptions how = path(session, InetAddress.ofLiteral(client.text()));
        try (UnreliablePair pair = new UnreliablePair(session.context(), plan, how)) {
            pair.connect(client);
            control.send(pair.address(""));
            UnreliableServer server = new UnreliableServer(control, pair);
            Frame<BenchMessage> request = control.receive();
            while (request.kind() == BenchMessage.STEP) {
                server.step((int) request.number(0), StepMode.of(request.number(1)), (int) request.number(2));
                request = control.receive();
            }
            if (request.kind() != BenchMessage.END) {
                throw new CommandFailure("the client sent an unexpected " + request.kind() + " message");
            }
            control.send(Frame.of(BenchMessage.OK));
        }
    }

    /// The port and the GID of a session for a peer that it reaches from the address `local`.
    static ConnectionOptions path(Session session, InetAddress local) {
        ConnectionOptions how = session.options().channel().connection();
        PathOptions path = how.path();
        int index = path.gidIndex().orElseGet(() -> session.context().preferredGidIndex(path.port(), local));
        return how.withPath(path.withGidIndex(index));
    }

    private void step(int count, StepMode mode, int number) {
        pair.begin(number, mode == StepMode.CHECK ? 0 : count - 1);
        CpuMeter meter = new CpuMeter(CpuTime::ofJavaThreads);
        control.send(Frame.of(BenchMessage.READY));
        Frame<BenchMessage> done = answer(count);
        StepUse.CpuUse use = meter.read();
        if (done == null) {
            done = control.expect(BenchMessage.DONE, BenchMessage.FAILED);
        }
        waits.forMessages(done.number(0));
        waits.forSends(0);
        if (mode == StepMode.WARM_UP) {
            CompilerTime.awaitIdle();
        }
        pair.verify();
        control.send(Frame.of(
                BenchMessage.REPORT, use.cpuNanos(), CompilerTime.nanos(), use.nanos(), pair.sent(), pair.received()));
    }

    /// Receives messages, and in a latency test answers them, until all have arrived or the client has ended the
    /// step.
    ///
    /// @return how the client ended it; null if all have arrived
    private @Nullable Frame<BenchMessage> answer(int count) {
        long since = System.nanoTime();
        long seen = 0;
        while (pair.received() < count || (latency && pair.sent() < count)) {
            if (latency && pair.sent() < pair.received()) {
                waits.forSends(pair.depth() - 1);
                pair.post(1);
            } else if (!pair.poll() && waits.isTime()) {
                long now = System.nanoTime();
                if (pair.received() != seen) {
                    seen = pair.received();
                    since = now;
                } else if (now - since > SILENCE_NANOS) {
                    Frame<BenchMessage> done = done();
                    if (done != null) {
                        return done;
                    }
                    since = System.nanoTime();
                }
            }
        }
        return null;
    }

    /// The message that ends the step; null if it has not arrived yet. Throws if the connection has ended.
    private @Nullable Frame<BenchMessage> done() {
        Frame<BenchMessage> frame;
        try {
            frame = control.receive(MOMENT);
        } catch (DeadlineException _) {
            return null;
        }
        if (frame.kind() != BenchMessage.DONE) {
            throw new CommandFailure("the client sent an unexpected " + frame.kind() + " message");
        }
        return frame;
    }
}
