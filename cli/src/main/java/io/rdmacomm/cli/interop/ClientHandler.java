package io.rdmacomm.cli.interop;

import io.rdmacomm.verbs.cm.ConnectionRequest;

/// Serves one client of a [ConnectionServer].
interface ClientHandler {
    /// Serves the client until it disconnects. Blocks.
    ///
    /// @return a line that reports what was done
    String serve(ConnectionRequest request) throws InterruptedException;
}
