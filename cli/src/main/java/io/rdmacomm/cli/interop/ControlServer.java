package io.rdmacomm.cli.interop;

import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.cli.command.FailureText;
import io.rdmacomm.verbs.RdmaException;
import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.function.Consumer;

/// A server for C programs that set up their connections over TCP. Serves one client after another.
final class ControlServer implements InteropServer {
    private static final int BACKLOG = 16;

    private final Session session;
    private final ServerSocket listener;
    private volatile boolean closed;

    /// Serves one client.
    interface Session {
        /// Serves the client until it is done. Blocks.
        ///
        /// @param client an accepted connection; the caller closes it
        /// @param results receives the lines that report what was done
        void serve(Socket client, Consumer<String> results) throws IOException;
    }

    /// Starts to listen.
    ///
    /// @param address where to listen; port 0 picks a free one
    ControlServer(InetSocketAddress address, Session session) throws IOException {
        this.session = session;
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
            session.serve(socket, results);
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
            } catch (IOException | CommandFailure | RdmaException | IllegalStateException e) {
                if (!closed) {
                    failures.accept(FailureText.of(e));
                }
            }
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
