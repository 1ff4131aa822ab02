package io.rdmacomm.verbs.spi;

import org.jspecify.annotations.Nullable;

/// An established connection ([io.rdmacomm.verbs.cm.Connection]). Thread-safe. Closing it disconnects it.
public interface ConnectionDriver extends IdentifierDriver {
    /// The private data of the peer's request or reply.
    byte[] privateData();

    /// The number of READs and atomics that the peer may have in flight, as negotiated.
    int responderResources();

    /// The number of READs and atomics that this side may have in flight, as negotiated.
    int initiatorDepth();

    /// The reason why the connection ended, in one line; null while it is established.
    @Nullable
    String disconnectReason();

    /// Ends the connection (rdma_disconnect(3)); does nothing if it has ended.
    void disconnect();

    /// Waits until the connection has ended. [#closing()] ends the wait.
    ///
    /// @param timeoutNanos zero to poll
    /// @return true if it has ended or is closing
    boolean awaitDisconnect(long timeoutNanos) throws InterruptedException;
}
