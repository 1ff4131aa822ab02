package io.rdmacomm.cli.bench.trial;

import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.cli.command.FailureText;
import io.rdmacomm.cli.command.OnFailure;
import io.rdmacomm.cli.rig.Sockets;
import io.rdmacomm.cli.rig.WatchedSocket;
import io.rdmacomm.cli.rig.WatchedSocket.Waiting;
import io.rdmacomm.nio.RdmaSelectorProvider;
import io.rdmacomm.verbs.Context;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.time.Duration;

/// The sockets of a trial: those of the module `nio`, or those of the JDK. The first eight bytes of a connection
/// are the seed of the plan, which only the right client knows.
final class TrialSockets implements AutoCloseable {
    private static final String EVERYWHERE = "*";
    private static final Duration TIMEOUT = Duration.ofSeconds(30);
    private static final Duration GREETING = Duration.ofSeconds(5);
    private static final String ADVICE = "is the other side stopped?";

    private final TrialPlan plan;
    private final SelectorProvider provider;

    /// @param context the device of the sockets of `nio`
    TrialSockets(TrialPlan plan, Context context) {
        this.plan = plan;
        this.provider = plan.test().isPlainTcp()
                ? SelectorProvider.provider()
                : RdmaSelectorProvider.of(context.device().name(), EVERYWHERE);
    }

    /// Listens on a free port.
    ///
    /// @param host the address that the server listens on; empty for loopback, `*` for all
    /// @param client the address of the client, which is also the server's on loopback
    ServerSocketChannel listen(String host, InetAddress client) throws IOException {
        try {
            return Sockets.listen(provider, host, client);
        } catch (IOException e) {
            throw new CommandFailure(
                    plan.test().label() + " cannot listen: " + FailureText.of(e)
                            + "; the server needs an address of its device: give --bind there",
                    e);
        }
    }

    /// Accepts the connection of the client, and closes all others.
    WatchedSocket accept(ServerSocketChannel listener) throws IOException {
        try {
            return watched(Sockets.accept(listener, this::isOfClient, TIMEOUT));
        } catch (SocketTimeoutException e) {
            throw new CommandFailure(
                    "the client did not connect its socket within " + TIMEOUT.toSeconds()
                            + " s: does a firewall let it connect to any port here?",
                    e);
        }
    }

    @SuppressWarnings("resource") // the channel stays open for its next user
    private boolean isOfClient(SocketChannel channel) {
        ByteBuffer greeting = ByteBuffer.allocate(Long.BYTES);
        try {
            channel.socket().setSoTimeout((int) GREETING.toMillis());
            int read = channel.socket().getInputStream().readNBytes(greeting.array(), 0, Long.BYTES);
            return read == Long.BYTES && greeting.getLong(0) == plan.seed();
        } catch (IOException _) {
            return false;
        }
    }

    /// Connects to the server.
    WatchedSocket connect(InetSocketAddress server) throws IOException {
        WatchedSocket socket = watched(Sockets.connect(provider, server, TIMEOUT, _ -> {}));
        return OnFailure.run(socket::close, () -> {
            socket.send(ByteBuffer.allocate(Long.BYTES).putLong(plan.seed()).flip());
            return socket;
        });
    }

    private WatchedSocket watched(SocketChannel channel) throws IOException {
        Waiting waiting = plan.test().isSocketRequest() ? Waiting.BLOCKING : Waiting.SPINNING;
        return new WatchedSocket(channel, waiting, TIMEOUT, ADVICE);
    }

    @Override
    public void close() {
        if (provider instanceof RdmaSelectorProvider ours) {
            ours.close();
        }
    }
}
