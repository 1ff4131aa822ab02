package io.rdmacomm.soft.cm;

import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.cm.ConnectionRequest;
import io.rdmacomm.verbs.cm.Listener;
import io.rdmacomm.verbs.service.SafeLogger;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/// A TCP port at which MPA requests are collected.
final class SoftListener extends Listener {
    private static final SafeLogger LOGGER = SafeLogger.of(SoftListener.class);

    private final SoftConnectionManager connections;
    private final MpaAcceptor acceptor;

    SoftListener(SoftConnectionManager manager, MpaAcceptor acceptor) {
        super(manager);
        this.connections = manager;
        this.acceptor = acceptor;
    }

    @Override
    public InetSocketAddress localAddress() {
        return acceptor.localAddress();
    }

    @Override
    protected @Nullable ConnectionRequest doAwaitRequest(long timeoutNanos) throws InterruptedException {
        MpaRequest request = acceptor.await(timeoutNanos);
        if (request == null && acceptor.isEnded() && isOpen()) {
            throw new VerbException(
                    "wait for a connection request (rdma_get_request)",
                    Errno.EIO,
                    this + " has failed, as the log says; close it and listen again");
        }
        return request == null ? null : new SoftConnectionRequest(connections, request);
    }

    @Override
    protected void onClosing() {
        acceptor.close();
    }

    @Override
    protected void doClose() {
        LOGGER.log(System.Logger.Level.DEBUG, "{0}: {1}", this, acceptor.counters());
    }
}
