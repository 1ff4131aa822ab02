package io.rdmacomm.ibverbs.cm;

import io.rdmacomm.verbs.spi.Driver;
import io.rdmacomm.verbs.spi.ListenerDriver;
import java.net.InetSocketAddress;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/// Listens for requests of one kind for one device.
///
/// @param <R> the kind of requests
final class IbvListener<R extends Driver> implements ListenerDriver<R> {
    private final ArrivedRequests requests;
    private final BiFunction<ConnectionIdentifier, IdentifierEvent, R> make;

    /// @param make makes an object that owns a request's identifier
    IbvListener(ArrivedRequests requests, BiFunction<ConnectionIdentifier, IdentifierEvent, R> make) {
        this.requests = requests;
        this.make = make;
    }

    @Override
    public InetSocketAddress localAddress() {
        return requests.address();
    }

    @Override
    public @Nullable R awaitRequest(long timeoutNanos) throws InterruptedException {
        return requests.await(timeoutNanos, make);
    }

    @Override
    public void closing() {
        requests.wake();
    }

    @Override
    public void close() {
        requests.close();
    }

    @Override
    public String toString() {
        return requests.toString();
    }
}
