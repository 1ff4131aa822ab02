package io.rdmacomm.cli.doctor;

import io.rdmacomm.cli.bench.trial.BenchServer;
import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.cli.command.CommandOutput;
import io.rdmacomm.cli.command.FailureText;
import io.rdmacomm.cli.rig.Frame;
import io.rdmacomm.cli.rig.FrameChannel;
import io.rdmacomm.cli.rig.ReceivedNumbers;
import io.rdmacomm.comm.BufferSlice;
import io.rdmacomm.comm.ClosedException;
import io.rdmacomm.comm.EndPoint;
import io.rdmacomm.comm.Message;
import io.rdmacomm.comm.PeerFailedException;
import io.rdmacomm.comm.RdmaBuffer;
import io.rdmacomm.comm.RdmaChannel;
import io.rdmacomm.comm.ServerSession;
import io.rdmacomm.comm.SessionOptions;
import io.rdmacomm.comm.Setup;
import io.rdmacomm.verbs.Capability;
import io.rdmacomm.verbs.ConnectionOptions;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.DeviceChoice;
import io.rdmacomm.verbs.QueuePairInfo;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/// The passive side of a self-test: a server of benchmarks that also answers the clients of the other
/// checks.
final class SelfTestServer implements AutoCloseable {
    private static final Duration SILENCE = Duration.ofMinutes(10);

    private final BenchServer server;
    private final SessionOptions options;
    private final AtomicLong clients = new AtomicLong();

    /// Starts to listen.
    ///
    /// @param options where to listen, on which device and port
    /// @param output shows failed clients
    SelfTestServer(SessionOptions options, CommandOutput output) {
        this.options = options;
        this.server = new BenchServer(
                options, output, Map.of(RemotePeer.NAME, this::serveChecks, SessionsCheck.NAME, this::answer));
    }

    /// The TCP port that the server listens on.
    int port() {
        return server.port();
    }

    /// Serves clients until the server is closed. Blocks.
    void run() {
        server.run(false);
    }

    /// Echoes every message.
    private void answer(ServerSession session, EndPoint client) {
        RdmaChannel channel = client.channel(0);
        try (RdmaBuffer buffer = session.allocate("answer " + clients.incrementAndGet(), channel.maxMessageBytes())) {
            while (true) {
                BufferSlice answer;
                try (Message message = channel.blocking(SILENCE).receive()) {
                    answer = buffer.slice(0, message.segment().byteSize());
                    answer.segment().copyFrom(message.segment());
                }
                channel.blocking(SILENCE).send(answer);
            }
        } catch (ClosedException | PeerFailedException _) {
            // The client has finished.
        }
    }

    private void serveChecks(ServerSession session, EndPoint client) {
        Peer peer = peer(session, client);
        PeerEnd far = null;
        try (FrameChannel<SelfTestMessage> control =
                SelfTestMessage.over(session, client, "doctor control " + clients.incrementAndGet())) {
            while (true) {
                Frame<SelfTestMessage> request = control.receive(SILENCE);
                try {
                    if (request.kind() == SelfTestMessage.OPEN) {
                        close(far);
                        far = null;
                        far = peer.open(SelfTestMessage.plan(request));
                        control.send(SelfTestMessage.opened(far.offer()));
                    } else {
                        control.send(answer(request, client, far));
                    }
                } catch (ClosedException | PeerFailedException e) {
                    throw e;
                } catch (RuntimeException e) {
                    control.send(Frame.of(SelfTestMessage.FAILED, FailureText.of(e)));
                }
            }
        } catch (ClosedException | PeerFailedException _) {
            // The client has finished.
        } finally {
            close(far);
        }
    }

    private static void close(@Nullable PeerEnd far) {
        if (far != null) {
            far.close();
        }
    }

    private static Frame<SelfTestMessage> answer(
            Frame<SelfTestMessage> request, EndPoint client, @Nullable PeerEnd far) {
        if (far == null) {
            throw new CommandFailure("the client sent " + request.kind() + " before it asked for an end");
        }
        return switch (request.kind()) {
            case CONNECT -> {
                QueuePairInfo numbers = SelfTestMessage.numbers(request);
                ReceivedNumbers.check(numbers, client);
                far.connect(numbers);
                yield Frame.of(SelfTestMessage.OK);
            }
            case ACCEPTED -> {
                far.awaitAccepted();
                yield Frame.of(SelfTestMessage.OK);
            }
            case INTACT -> Frame.of(SelfTestMessage.OK, far.isIntact() ? 1 : 0);
            case RECEIVES -> receives(request, far);
            case CLOSE -> {
                far.close();
                yield Frame.of(SelfTestMessage.OK);
            }
            default -> throw new CommandFailure("the client sent an unexpected " + request.kind() + " message");
        };
    }

    private static Frame<SelfTestMessage> receives(Frame<SelfTestMessage> request, PeerEnd far) {
        Duration limit = Duration.ofMillis(Math.clamp(request.number(1), 0, SelfTestMessage.TIMEOUT.toMillis() / 2));
        return Frame.of(
                SelfTestMessage.OK,
                far.receives(Math.clamp(request.number(0), 0, 8), limit).stream()
                        .limit(8)
                        .mapToLong(status -> status.code())
                        .toArray());
    }

    /// Creates ends at the address of this host that the client reaches.
    private Peer peer(ServerSession session, EndPoint client) {
        Context context = session.context();
        ConnectionOptions how = options.channel().connection();
        InetAddress towards = DeviceChoice.localAddress(new InetSocketAddress(client.remoteAddress(), 1));
        return new LocalPeer(
                context,
                PortAddresses.resolved(context, how, towards),
                client.setup() == Setup.CONNECTION_MANAGER
                        ? PortAddresses.of(context, how.path().port(), towards)
                        : null);
    }

    /// Whether the connection manager connects the queue pairs of a session.
    static boolean isByAddress(Context context, SessionOptions options) {
        return options.setup() == Setup.CONNECTION_MANAGER || !context.supports(Capability.CONNECT_BY_NUMBERS);
    }

    @Override
    public void close() {
        server.close();
    }
}
