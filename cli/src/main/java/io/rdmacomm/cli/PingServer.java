package io.rdmacomm.cli;

import io.rdmacomm.cli.terminal.CommandFailure;
import io.rdmacomm.cli.terminal.DeviceLine;
import io.rdmacomm.cli.terminal.FailureText;
import io.rdmacomm.comm.BufferSlice;
import io.rdmacomm.comm.ClosedException;
import io.rdmacomm.comm.DeadlineException;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.Message;
import io.rdmacomm.comm.PeerDoneException;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.verbs.RdmaException;
import java.io.PrintWriter;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;

/// The answering side of `rdmacomm ping`: checks every ping and answers it, for any number of clients at a
/// time.
final class PingServer implements AutoCloseable {
    private static final Duration NEXT_CLIENT = Duration.ofHours(1);
    private static final Duration NEXT_PING = Duration.ofHours(1);

    private final ServerSession session;
    private final PrintWriter out;
    private final AtomicLong clients = new AtomicLong();

    PingServer(SessionOptions options, PrintWriter out) {
        this.out = out;
        this.session = ServerSession.listen(options.withName("ping server"));
    }

    int port() {
        return session.port();
    }

    DeviceLine device() {
        return DeviceLine.of(session);
    }

    /// Serves until it is closed, or until `limit` clients have gone; 0 is no limit.
    void run(long limit) {
        try (ExecutorService each = Executors.newVirtualThreadPerTaskExecutor()) {
            long accepted = 0;
            while (session.isOpen() && (limit == 0 || accepted < limit)) {
                try {
                    EndPoint client = session.accept(NEXT_CLIENT);
                    accepted++;
                    each.execute(() -> serve(client));
                } catch (DeadlineException _) {
                    // Nobody came: go on waiting.
                } catch (ClosedException e) {
                    if (session.isOpen()) {
                        throw e;
                    }
                }
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
        } catch (RdmaException | CommandFailure e) {
            end = ", then failed: " + FailureText.of(e);
        }
        out.println(endPoint.peerAddress() + ": " + answered + " pings answered" + end);
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
        } catch (PeerDoneException e) {
            return false;
        }
        channel.blocking().send(reply);
        return true;
    }

    @Override
    public void close() {
        session.close();
    }
}
