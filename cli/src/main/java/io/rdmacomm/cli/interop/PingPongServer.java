package io.rdmacomm.cli.interop;

import io.rdmacomm.cli.terminal.CommandFailure;
import io.rdmacomm.cli.terminal.FailureText;
import io.rdmacomm.verbs.Context;
import io.rdmacomm.verbs.VerbException;
import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.function.Consumer;

/// The server of ibv_rc_pingpong(1): plays with one client after another. [#close()] is for any thread.
public final class PingPongServer implements AutoCloseable {
    private static final int BACKLOG = 16;

    private final Context context;
    private final PingPongSettings settings;
    private final ServerSocket listener;
    private volatile boolean closed;

    /// Listens.
    ///
    /// @param address the TCP address for the exchange of addresses
    public PingPongServer(Context context, PingPongSettings settings, InetSocketAddress address) throws IOException {
        this.context = context;
        this.settings = settings;
        this.listener = new ServerSocket();
        try {
            listener.bind(address, BACKLOG);
        } catch (BindException e) {
            listener.close();
            throw new CommandFailure(
                    "cannot listen on port " + address.getPort() + ": " + e.getMessage()
                            + "; choose another --port, or end the program that has it",
                    e);
        }
    }

    /// Where it listens.
    public int port() {
        return listener.getLocalPort();
    }

    /// Plays with one client; a failure of that one is the failure of the server.
    ///
    /// @param lines is told what the C program prints
    public void runOnce(Consumer<String> lines) throws IOException {
        try (Socket socket = listener.accept()) {
            play(socket, lines);
        } catch (IOException e) {
            if (!closed) {
                throw e;
            }
        }
    }

    /// Plays with one client after another until it is closed.
    ///
    /// @param lines is told what the C program prints
    /// @param complaints is told of clients that failed
    public void run(Consumer<String> lines, Consumer<String> complaints) {
        while (!closed) {
            try {
                runOnce(lines);
            } catch (IOException | CommandFailure | VerbException | IllegalStateException e) {
                if (!closed) {
                    complaints.accept(FailureText.of(e));
                }
            }
        }
    }

    private void play(Socket socket, Consumer<String> lines) throws IOException {
        try (PingPongExchange exchange = new PingPongExchange(socket, settings.patience());
                PingPong game = new PingPong(context, settings, lines)) {
            game.play(exchange).lines().forEach(lines);
        }
    }

    /// Stops listening.
    @Override
    public void close() {
        closed = true;
        try {
            listener.close();
        } catch (IOException _) {
            // Nobody is listening any more, which is what was wanted.
        }
    }
}
