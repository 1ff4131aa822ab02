package io.rdmacomm.verbs.spi;

import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/// Listens for requests of one kind ([io.rdmacomm.verbs.cm.Listener]). Thread-safe. Closing it rejects the
/// requests that wait.
///
/// @param <R> the kind of requests
public interface ListenerDriver<R extends Driver> extends Driver {
    /// The address that it listens at, with the actual port.
    InetSocketAddress localAddress();

    /// Waits for the next request (rdma_get_cm_event(3)). [#closing()] ends the wait.
    ///
    /// @param timeoutNanos zero to poll
    /// @return null after the timeout and when the listener is closing
    @Nullable
    R awaitRequest(long timeoutNanos) throws InterruptedException;
}
