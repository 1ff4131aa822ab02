package io.rdmacomm.cli.interop;

import io.rdmacomm.cli.terminal.AddressText;
import io.rdmacomm.cli.terminal.CommandFailure;
import io.rdmacomm.cli.terminal.FailureText;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.cm.ConnectionManager;
import io.rdmacomm.verbs.cm.ConnectionRequest;
import io.rdmacomm.verbs.cm.Listener;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Listens with a connection manager and serves each client in a thread of its own. [#close()] is for any thread.
public final class ConnectionServer implements AutoCloseable {
    private static final Duration NEXT_CLIENT = Duration.ofHours(1);
    private static final int MOST_CLIENTS = 128;

    private final Listener listener;
    private final ConnectionService service;
    private final Semaphore room = new Semaphore(MOST_CLIENTS);

    /// Listens.
    ///
    /// @param address where; port 0 takes a free one
    ConnectionServer(ConnectionManager manager, InetSocketAddress address, ConnectionService service) {
        this.service = service;
        this.listener = manager.listen(address, 0);
    }

    /// Where it listens.
    public int port() {
        return listener.localAddress().getPort();
    }

    /// Serves one client. Its failure is the failure of the server. Blocks.
    ///
    /// @param lines is told what was done
    public void runOnce(Consumer<String> lines) throws InterruptedException {
        ConnectionRequest request = next();
        if (request != null) {
            try (request) {
                lines.accept(AddressText.of(request.remoteAddress()) + ": " + service.serve(request));
            }
        }
    }

    /// Serves clients until it is closed. Blocks.
    ///
    /// @param lines is told what was done for each client
    /// @param complaints is told of clients that failed
    public void run(Consumer<String> lines, Consumer<String> complaints) throws InterruptedException {
        try (ExecutorService each = Executors.newVirtualThreadPerTaskExecutor()) {
            for (ConnectionRequest request = next(); request != null; request = next()) {
                ConnectionRequest client = request;
                if (room.tryAcquire()) {
                    each.execute(() -> serve(client, lines, complaints));
                } else {
                    refuse(client);
                }
            }
        }
    }

    private void serve(ConnectionRequest request, Consumer<String> lines, Consumer<String> complaints) {
        String client = AddressText.of(request.remoteAddress());
        try (request) {
            lines.accept(client + ": " + service.serve(request));
        } catch (CommandFailure | VerbException | IllegalStateException e) {
            if (listener.isOpen()) {
                complaints.accept(client + ": " + FailureText.of(e));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            room.release();
        }
    }

    private static void refuse(ConnectionRequest request) {
        try (request) {
            request.reject("too many clients".getBytes(StandardCharsets.US_ASCII));
        } catch (VerbException | IllegalStateException _) {
            // It has gone already.
        }
    }

    /// The next request; null when this was closed.
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

    /// Stops listening; whoever is served goes on.
    @Override
    public void close() {
        listener.close();
    }
}
