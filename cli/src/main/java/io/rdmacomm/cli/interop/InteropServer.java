package io.rdmacomm.cli.interop;

import java.io.IOException;
import java.util.function.Consumer;

/// A server for the clients of a C program. Only [#close()] is thread-safe.
public interface InteropServer extends AutoCloseable {
    /// The port that the server listens on.
    int port();

    /// Serves one client, and throws if that client fails. Blocks.
    ///
    /// @param results receives a line about each client
    void runOnce(Consumer<String> results) throws IOException, InterruptedException;

    /// Serves clients until the server is closed. Blocks.
    ///
    /// @param results receives a line about each client
    /// @param failures receives a line about each client that failed
    void run(Consumer<String> results, Consumer<String> failures) throws InterruptedException;

    /// Stops listening.
    @Override
    void close();
}
