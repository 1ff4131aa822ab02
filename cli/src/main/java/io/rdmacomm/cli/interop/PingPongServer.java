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

/// The server of ibv_rc_pingpong(1): serves one client after another.
public final class PingPongServer implements InteropServer {
    private static final int BACKLOG = 16;

    private final Context context;
    private final PingPongSettings settings;
    private final ServerSocket listener;
    private volatile boolean closed;

    /// Starts to listen.
    ///
    /// @param address the TCP address for exchanging the addresses of the queue pairs
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
                            + "; choose another --port, or end the program that uses it",
                    e);
        }
    }

    @Override
    public int port() {
        return listener.getLocalPort();
    }

    @Override
    public void runOnce(Consumer<String> results) throws IOException {
        try (Socket socket = listener.accept()) {
            serve(socket, results);
        } catch (IOException e) {
            if (!closed) {
                throw e;
            }
        }
    }

    @Override
    public void run(Consumer<String> results, Consumer<String> failures) {
        while (!closed) {
            try {
                runOnce(results);
            } catch (IOException | CommandFailure | VerbException | IllegalStateException e) {
                if (!closed) {
                    failures.accept(FailureText.of(e));
                }
            }
        }
    }

    private void serve(Socket socket, Consumer<String> results) throws IOException {
        try (PingPongExchange exchange = new PingPongExchange(socket, settings);
                PingPong run = new PingPong(context, settings, results)) {
            run.play(exchange).lines().forEach(results);
        }
    }

    @Override
    public void close() {
        closed = true;
        try {
            listener.close();
        } catch (IOException _) {
            // The port is closed in any case.
        }
    }
}
