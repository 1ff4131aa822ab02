package io.rdmacomm.cli.interop;

import io.rdmacomm.cli.command.AddressText;
import io.rdmacomm.cli.command.CommandFailure;
import io.rdmacomm.cli.command.FailureText;
import io.rdmacomm.verbs.DeadlineException;
import io.rdmacomm.verbs.RdmaException;
import io.rdmacomm.verbs.RdmaInterruptedException;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.cm.ConnectionException;
import io.rdmacomm.verbs.cm.ConnectionManager;
import io.rdmacomm.verbs.cm.ConnectionParameters;
import io.rdmacomm.verbs.cm.ConnectionRequest;
import io.rdmacomm.verbs.cm.IdentifierOptions;
import io.rdmacomm.verbs.cm.Listener;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A server that listens with a connection manager and serves each client in its own thread. Clients that do not
/// complete the handshake do not block others. Thread-safe.
final class ConnectionServer implements InteropServer {
    private static final Duration NEXT_CLIENT = Duration.ofHours(1);
    private static final int MAX_CLIENTS = 128;

    private final Listener<ConnectionRequest> listener;
    private final ConnectionParameters parameters;
    private final Duration timeout;
    private final Handler handler;
    private final Semaphore permits = new Semaphore(MAX_CLIENTS);
    private final UnansweredRequests<ConnectionRequest> unanswered = new UnansweredRequests<>();

    /// Starts to listen.
    ///
    /// @param address where to listen; port 0 picks a free one
    /// @param parameters of the connections
    /// @param timeout how long each step of a client may take
    ConnectionServer(
            ConnectionManager manager,
            InetSocketAddress address,
            IdentifierOptions options,
            ConnectionParameters parameters,
            Duration timeout,
            Handler handler) {
        this.parameters = parameters;
        this.timeout = timeout;
        this.handler = handler;
        this.listener = manager.listen(address, ConnectionManager.DEFAULT_BACKLOG, options);
    }

    @Override
    public int port() {
        return listener.localAddress().getPort();
    }

    /// Serves the first client that completes the handshake.
    @Override
    public void runOnce(Consumer<String> results) throws InterruptedException {
        AtomicBoolean found = new AtomicBoolean();
        CompletableFuture<String> result = new CompletableFuture<>();
        acceptAll(request -> serveFirst(request, found, result));
        switch (result.state()) {
            case SUCCESS -> results.accept(result.resultNow());
            case FAILED -> {
                switch (result.exceptionNow()) {
                    case RuntimeException e -> throw e;
                    case InterruptedException e -> throw e;
                    case Throwable e -> throw new AssertionError(e);
                }
            }
            case RUNNING, CANCELLED -> {
                // The server was closed.
            }
        }
    }

    private void serveFirst(ConnectionRequest request, AtomicBoolean found, CompletableFuture<String> result) {
        try (request;
                SynchronousConnection connection = accept(request)) {
            if (!found.compareAndSet(false, true)) {
                return;
            }
            endAccepting();
            try {
                result.complete(AddressText.of(request.remoteAddress()) + ": " + handler.serve(connection));
            } catch (RuntimeException | InterruptedException | Error e) {
                result.completeExceptionally(e);
            }
        } catch (ConnectionException | DeadlineException | IllegalStateException e) {
            // The client did not complete the handshake. Others may.
        } catch (RuntimeException | InterruptedException | Error e) {
            // The failure is this server's own, for example a lack of memory.
            if (!found.get()) {
                result.completeExceptionally(e);
                endAccepting();
            }
        }
    }

    private void endAccepting() {
        listener.close();
        unanswered.removeAll().forEach(ConnectionRequest::close);
    }

    @Override
    public void run(Consumer<String> results, Consumer<String> failures) throws InterruptedException {
        acceptAll(request -> {
            try (request) {
                serve(request, results, failures);
            }
        });
    }

    /// Handles each request in its own thread, until the server is closed and all requests are done.
    private void acceptAll(Consumer<ConnectionRequest> work) throws InterruptedException {
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (ConnectionRequest request = next(); request != null; request = next()) {
                ConnectionRequest client = request;
                ConnectionRequest displaced =
                        unanswered.add(client, client.remoteAddress().getAddress());
                if (displaced != null) {
                    threads.execute(displaced::close);
                }
                threads.execute(() -> work.accept(client));
            }
        }
    }

    private SynchronousConnection accept(ConnectionRequest request) throws InterruptedException {
        try {
            return SynchronousConnection.accept(request, parameters, timeout);
        } finally {
            unanswered.remove(request);
        }
    }

    private void serve(ConnectionRequest request, Consumer<String> results, Consumer<String> failures) {
        if (permits.availablePermits() == 0) {
            reject(request);
            return;
        }
        String client = AddressText.of(request.remoteAddress());
        try (SynchronousConnection connection = accept(request)) {
            if (permits.tryAcquire()) {
                try {
                    results.accept(client + ": " + handler.serve(connection));
                } finally {
                    permits.release();
                }
            }
        } catch (RdmaInterruptedException e) {
            // The server is being closed.
        } catch (CommandFailure | RdmaException | IllegalStateException e) {
            // Do not report a request that was closed in favor of newer ones: strangers must not flood the
            // terminal.
            if (listener.isOpen() && request.isOpen()) {
                failures.accept(client + ": " + FailureText.of(e));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void reject(ConnectionRequest request) {
        unanswered.remove(request);
        try {
            request.reject("too many clients".getBytes(StandardCharsets.US_ASCII));
        } catch (VerbException | IllegalStateException _) {
            // The client has already disconnected.
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

    /// Stops listening. Does not affect the clients that are being served.
    @Override
    public void close() {
        listener.close();
    }

    /// Serves one client of a [ConnectionServer].
    interface Handler {
        /// Serves the client until it disconnects. Blocks.
        ///
        /// @return a line that reports what was done
        String serve(SynchronousConnection client) throws InterruptedException;
    }
}
