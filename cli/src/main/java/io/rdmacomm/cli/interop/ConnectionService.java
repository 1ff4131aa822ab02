package io.rdmacomm.cli.interop;

import io.rdmacomm.verbs.cm.ConnectionRequest;

/// What a server does with one client.
interface ConnectionService {
    /// Serves the client until it goes. Blocks.
    ///
    /// @return a line about what was done
    String serve(ConnectionRequest request) throws InterruptedException;
}
