package io.rdmacomm.cli.interop;

/// Serves one client of a [ConnectionServer].
interface ClientHandler {
    /// Serves the client until it disconnects. Blocks.
    ///
    /// @return a line that reports what was done
    String serve(SynchronousConnection client) throws InterruptedException;
}
