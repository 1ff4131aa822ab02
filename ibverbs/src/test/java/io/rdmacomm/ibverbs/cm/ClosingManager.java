package io.rdmacomm.ibverbs.cm;

import io.rdmacomm.verbs.cm.ConnectionManager;

/// Holds a connection manager in the middle of its close, for tests in other packages.
public final class ClosingManager {
    private ClosingManager() {}

    /// Does the first step of [ConnectionManager#close()], which wakes all waiting threads, and no more.
    public static void begin(ConnectionManager manager) {
        ((IbvConnectionManager) manager).channel().wake();
    }
}
