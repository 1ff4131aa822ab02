package io.rdmacomm.cli.interop;

import io.rdmacomm.cli.command.AddressText;
import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.cli.command.CommandOutput;
import io.rdmacomm.cli.command.FailureText;
import io.rdmacomm.cli.rig.Sockets;
import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The server of a stream. Serves one client after the other.
final class StreamServer implements AutoCloseable {
    private final StreamOptions.Plan plan;
    private final Duration timeout;
    private final CommandOutput output;
    private final ServerSocketChannel listener;

    /// Starts to listen.
    ///
    /// @param address where to listen; port 0 picks a free one
    /// @throws CommandFailure if it cannot listen there; the message says what to do
    StreamServer(
            SelectorProvider provider,
            InetSocketAddress address,
            StreamOptions.Plan plan,
            Duration timeout,
            CommandOutput output)
            throws IOException {
        this.plan = plan;
        this.timeout = timeout;
        this.output = output;
        this.listener = provider.openServerSocketChannel();
        try {
            listener.setOption(StandardSocketOptions.SO_RCVBUF, plan.bufferBytes());
            listener.bind(address);
        } catch (BindException e) {
            listener.close();
            throw new CommandFailure(
                    "cannot listen at " + AddressText.of(address) + ": " + e.getMessage()
                            + "; choose another --port, or an address of the device with --bind",
                    e);
        } catch (IOException | RuntimeException e) {
            listener.close();
            throw e;
        }
    }

    int port() {
        return listener.socket().getLocalPort();
    }

    /// Serves clients until the server is closed.
    void run() throws IOException {
        while (listener.isOpen()) {
            try {
                serveOne();
            } catch (CommandFailure e) {
                output.complain(FailureText.of(e));
            }
        }
    }

    /// Serves one client. Also returns when the server is closed.
    ///
    /// @throws CommandFailure if a test fails
    void serveOne() throws IOException {
        SocketChannel first = accept();
        if (first == null) {
            return;
        }
        String client = first.getRemoteAddress() instanceof InetSocketAddress remote ? AddressText.of(remote) : "";
        output.println("client " + client);
        output.println(StreamResult.HEADER);
        StreamEnd end = new StreamEnd(plan, true, timeout, result -> output.println(result.line()));
        SocketChannel channel = first;
        try {
            for (List<StreamTest> tests : plan.connections()) {
                if (channel == null) {
                    channel = acceptNext();
                }
                end.run(channel, tests);
                channel = null;
            }
        } catch (CommandFailure e) {
            throw new CommandFailure("client " + client + ": " + e.getMessage(), e);
        } catch (IOException e) {
            throw new CommandFailure("client " + client + ": " + FailureText.of(e), e);
        }
    }

    /// The first connection of a client; null if the server was closed.
    private @Nullable SocketChannel accept() throws IOException {
        try {
            return listener.accept();
        } catch (ClosedChannelException _) {
            return null;
        }
    }

    /// The next connection of the same client.
    private SocketChannel acceptNext() throws IOException {
        listener.socket().setSoTimeout((int) timeout.toMillis());
        try {
            return listener.socket().accept().getChannel();
        } catch (SocketTimeoutException e) {
            throw new CommandFailure(
                    "it has not connected a second time for " + timeout.toMillis() / 1e3 + " s: " + StreamEnd.ADVICE,
                    e);
        }
    }

    @Override
    public void close() {
        Sockets.close(listener);
    }
}
