package io.rdmacomm.cli.interop;

import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.cli.command.CommandOutput;
import io.rdmacomm.cli.command.CountText;
import io.rdmacomm.cli.command.DeviceLine;
import io.rdmacomm.cli.command.FailureText;
import io.rdmacomm.cli.command.LostOutput;
import io.rdmacomm.cli.rig.Clients;
import io.rdmacomm.comm.BufferSlice;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.Message;
import io.rdmacomm.comm.PeerDoneException;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.verbs.RdmaException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/// The server of `rdmacomm ping`: checks every ping and answers it, for any number of clients at the same time.
final class PingServer implements AutoCloseable {
    private static final Duration NEXT_PING = Duration.ofHours(1);

    private final ServerSession session;
    private final CommandOutput output;

    PingServer(SessionOptions options, CommandOutput output) {
        this.output = output;
        this.session = ServerSession.listen(options.withName("ping server"));
    }

    int port() {
        return session.port();
    }

    DeviceLine device() {
        return DeviceLine.of(session);
    }

    /// Serves clients until the server is closed, or until this many clients have disconnected. Blocks.
    void run(long clients) {
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (long number = 1; number <= clients; number++) {
                EndPoint client = Clients.next(session);
                if (client == null) {
                    return;
                }
                String buffer = "ping answers " + number;
                threads.execute(() -> serve(client, buffer));
            }
        }
    }

    private void serve(EndPoint endPoint, String bufferName) {
        long answered = 0;
        String failure = "";
        try (EndPoint client = endPoint) {
            RdmaChannel channel = client.channel(0);
            long bytes = Math.max(channel.maxMessageBytes(), PingMessage.HEADER_BYTES);
            try (RdmaBuffer buffer = session.allocate(bufferName, bytes)) {
                while (answer(channel, buffer)) {
                    answered++;
                }
            }
        } catch (RdmaException | CommandFailure e) {
            // It is not a failure if this server ended the connection.
            failure = session.isOpen() ? ", then failed: " + FailureText.of(e) : "";
        }
        try {
            output.println(endPoint.peerAddress() + ": " + CountText.of(answered, "ping") + " answered" + failure);
        } catch (LostOutput _) {
            // The command reports this when it ends.
            session.close();
        }
    }

    /// Answers the next ping.
    ///
    /// @return false if the client has disconnected
    private static boolean answer(RdmaChannel channel, RdmaBuffer buffer) {
        BufferSlice reply;
        try (Message ping = channel.blocking(NEXT_PING).receive()) {
            MemorySegment content = ping.segment();
            PingMessage.check(content);
            boolean intact = PingMessage.direction(content) == PingMessage.PING && PingMessage.mismatch(content) < 0;
            reply = buffer.slice(0, content.byteSize());
            PingMessage.write(
                    reply.segment(),
                    intact ? PingMessage.PONG : PingMessage.DAMAGED,
                    PingMessage.seed(content),
                    PingMessage.number(content));
        } catch (PeerDoneException _) {
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
