package io.rdmacomm.cli.interop;

import io.rdmacomm.cli.terminal.AddressText;
import io.rdmacomm.cli.terminal.CommandFailure;
import io.rdmacomm.cli.terminal.FailureText;
import io.rdmacomm.verbs.RdmaException;
import io.rdmacomm.verbs.RdmaInterruptedException;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.cm.ConnectionManager;
import io.rdmacomm.verbs.cm.ConnectionRequest;
import io.rdmacomm.verbs.cm.IdentifierOptions;
import io.rdmacomm.verbs.cm.Listener;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A server that listens with a connection manager and serves each client in its own thread.
final class ConnectionServer implements InteropServer {
    private static final Duration NEXT_CLIENT = Duration.ofHours(1);
    private static final int MAX_CLIENTS = 128;

    private final Listener<ConnectionRequest> listener;
    private final ClientHandler handler;
    private final Semaphore permits = new Semaphore(MAX_CLIENTS);

    /// Starts to listen.
    ///
    /// @param address where to listen; port 0 picks a free one
    ConnectionServer(
            ConnectionManager manager, InetSocketAddress address, IdentifierOptions options, ClientHandler handler) {
        this.handler = handler;
        this.listener = manager.listen(address, ConnectionManager.DEFAULT_BACKLOG, options);
    }

    @Override
    public int port() {
        return listener.localAddress().getPort();
    }

    @Override
    public void runOnce(Consumer<String> results) throws InterruptedException {
        ConnectionRequest request = next();
        if (request != null) {
            try (request) {
                results.accept(AddressText.of(request.remoteAddress()) + ": " + handler.serve(request));
            }
        }
    }

    @Override
    public void run(Consumer<String> results, Consumer<String> failures) throws InterruptedException {
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (ConnectionRequest request = next(); request != null; request = next()) {
                ConnectionRequest client = request;
                if (permits.tryAcquire()) {
                    threads.execute(() -> serve(client, results, failures));
                } else {
                    reject(client);
                }
            }
        }
    }

    private void serve(ConnectionRequest request, Consumer<String> results, Consumer<String> failures) {
        String client = AddressText.of(request.remoteAddress());
        try (request) {
            results.accept(client + ": " + handler.serve(request));
        } catch (RdmaInterruptedException e) {
            // The server ends.
        } catch (CommandFailure | RdmaException | IllegalStateException e) {
            if (listener.isOpen()) {
                failures.accept(client + ": " + FailureText.of(e));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            permits.release();
        }
    }

    private static void reject(ConnectionRequest request) {
        try (request) {
            request.reject("too many clients".getBytes(StandardCharsets.US_ASCII));
        } catch (VerbException | IllegalStateException _) {
            // The client has disconnected already.
        }
    }

    /// Waits for the next request; null if the server was closed.
    private @Nullable ConnectionRequest next() throws InterruptedException {
        while (true) {
            try {
                ConnectionRequest request = listener.awaitRequest(NEXT_CLIENT);
                if (request != null) {
                    return request;
                }
            } catch (IllegalStateException e) {
                if (listener.isOpen()) {
                    throw e;
                }
                return null;
            }
        }
    }

    /// Stops listening. Clients that are being served are not affected.
    @Override
    public void close() {
        listener.close();
    }
}
