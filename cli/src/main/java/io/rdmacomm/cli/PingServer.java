package io.rdmacomm.cli;

import io.rdmacomm.cli.terminal.CommandFailure;
import io.rdmacomm.cli.terminal.DeviceLine;
import io.rdmacomm.cli.terminal.FailureText;
import io.rdmacomm.comm.BufferSlice;
import io.rdmacomm.comm.ClosedException;
import io.rdmacomm.comm.CommException;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.Message;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionListener;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.verbs.RdmaException;
import java.io.PrintWriter;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;

/// The answering side of `rdmacomm ping`: checks every ping and answers it, for any number of clients at a
/// time.
final class PingServer implements AutoCloseable {
    private static final Duration NEXT_PING = Duration.ofHours(1);

    private final ServerSession session;
    private final PrintWriter out;
    private final AtomicLong clients = new AtomicLong();
    /// Who has come, in order; nobody for a client that could not be set up, and for the end.
    private final BlockingQueue<Optional<EndPoint>> arrivals = new LinkedBlockingQueue<>();

    private volatile boolean closing;

    PingServer(SessionOptions options, PrintWriter out) {
        this.out = out;
        this.session = ServerSession.listen(options.withName("ping server").withListener(new Arrivals()));
    }

    private final class Arrivals implements SessionListener {
        @Override
        public void onEndPoint(EndPoint endPoint) {
            arrivals.add(Optional.of(endPoint));
        }

        @Override
        public void onRefused(String peer, CommException failure) {
            if (!closing) {
                say(peer + " could not be set up: " + FailureText.of(failure));
                arrivals.add(Optional.empty());
            }
        }
    }

    int port() {
        return session.port();
    }

    DeviceLine device() {
        return DeviceLine.of(session);
    }

    /// Serves until it is closed, or until `limit` clients have gone, however far they came; 0 is no limit.
    void run(long limit) throws InterruptedException {
        try (ExecutorService each = Executors.newVirtualThreadPerTaskExecutor()) {
            for (long come = 0; !closing && (limit == 0 || come < limit); come++) {
                arrivals.take().ifPresent(client -> each.execute(() -> serve(client)));
            }
        }
    }

    private void serve(EndPoint endPoint) {
        String name = "ping answers " + clients.incrementAndGet();
        long answered = 0;
        String end = "";
        try (EndPoint client = endPoint) {
            RdmaChannel channel = client.channel(0);
            try (RdmaBuffer buffer =
                    session.allocate(name, Math.max(channel.maxMessageBytes(), PingMessage.HEADER_BYTES), 1)) {
                while (answer(channel, buffer)) {
                    answered++;
                }
            }
        } catch (CommException | CommandFailure | RdmaException e) {
            end = ", then failed: " + FailureText.of(e);
        }
        say(endPoint.peerAddress() + ": " + answered + " pings answered" + end);
    }

    private void say(String line) {
        out.println(line);
        out.flush();
    }

    /// Answers the next ping; false when the client has gone in order.
    private static boolean answer(RdmaChannel channel, RdmaBuffer buffer) {
        BufferSlice reply;
        try (Message ping = channel.blocking(NEXT_PING).receive()) {
            MemorySegment content = ping.segment();
            PingMessage.check(content);
            boolean right = PingMessage.direction(content) == PingMessage.PING && PingMessage.mismatch(content) < 0;
            reply = buffer.slice(0, content.byteSize());
            PingMessage.write(
                    reply.segment(),
                    right ? PingMessage.PONG : PingMessage.DAMAGED,
                    PingMessage.seed(content),
                    PingMessage.number(content));
        } catch (ClosedException e) {
            if (e.getCause() == null) {
                return false;
            }
            throw e;
        }
        channel.blocking().send(reply);
        return true;
    }

    @Override
    public void close() {
        closing = true;
        arrivals.add(Optional.empty());
        session.close();
    }
}
