package io.rdmacomm.verbs.spi;

import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/// An established connection ([io.rdmacomm.verbs.cm.Connection]). Thread-safe. Closing it disconnects it.
public interface ConnectionDriver extends Driver {
    /// The addresses, the private data of the peer's request or reply, and what was agreed.
    ConnectionFacts facts();

    /// The reason why the connection ended, in one line; null while it is established.
    @Nullable
    String disconnectReason();

    /// Ends the connection (rdma_disconnect(3)); does nothing if it has ended.
    void disconnect();

    /// Completed with the reason once the connection has ended and its queue pair is in ERROR, at the latest by
    /// [#close()]. Dependent actions are short.
    CompletableFuture<String> ended();

    /// Waits until the peer has confirmed an end that this side has requested, if it must be confirmed. For a
    /// process that is about to end, and could not repeat the message.
    ///
    /// @param nanos the longest wait
    default void awaitConfirmation(long nanos) {}
}
