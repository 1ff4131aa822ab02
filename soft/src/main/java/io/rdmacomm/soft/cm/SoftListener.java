package io.rdmacomm.soft.cm;

import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.service.SafeLogger;
import io.rdmacomm.verbs.spi.ConnectionRequestDriver;
import io.rdmacomm.verbs.spi.ListenerDriver;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/// Collects the MPA requests that arrive at a TCP port.
final class SoftListener implements ListenerDriver<ConnectionRequestDriver> {
    private static final SafeLogger LOGGER = SafeLogger.of(SoftListener.class);

    private final SoftConnectionManager connections;
    private final MpaAcceptor acceptor;
    private volatile boolean closing;

    SoftListener(SoftConnectionManager manager, MpaAcceptor acceptor) {
        this.connections = manager;
        this.acceptor = acceptor;
    }

    @Override
    public InetSocketAddress localAddress() {
        return acceptor.localAddress();
    }

    @Override
    public @Nullable ConnectionRequestDriver awaitRequest(long timeoutNanos) throws InterruptedException {
        MpaRequest request = acceptor.await(timeoutNanos);
        if (request == null && acceptor.isEnded() && !closing) {
            throw new VerbException(
                    "wait for a connection request (rdma_get_request)",
                    Errno.EIO,
                    this + " has failed, as the log says; close it and listen again");
        }
        return request == null ? null : new SoftConnectionRequest(connections, request);
    }

    @Override
    public void closing() {
        closing = true;
        acceptor.close();
    }

    @Override
    public void close() {
        LOGGER.log(System.Logger.Level.DEBUG, "{0}: {1}", this, acceptor.counters());
    }

    @Override
    public String toString() {
        return "listener at " + localAddress() + " on " + connections.device();
    }
}
