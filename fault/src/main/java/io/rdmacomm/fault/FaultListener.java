package io.rdmacomm.fault;

import io.rdmacomm.verbs.cm.ConnectionRequest;
import io.rdmacomm.verbs.cm.Listener;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// Stands for a listener.
final class FaultListener extends Listener {
    private final FaultConnectionManager connections;
    private final Listener real;

    FaultListener(FaultConnectionManager manager, Listener real) {
        super(manager);
        this.connections = manager;
        this.real = real;
    }

    @Override
    public InetSocketAddress localAddress() {
        return real.localAddress();
    }

    @Override
    protected @Nullable ConnectionRequest doAwaitRequest(long timeoutNanos) throws InterruptedException {
        try {
            ConnectionRequest request = real.awaitRequest(Duration.ofNanos(timeoutNanos));
            return request == null ? null : new FaultConnectionRequest(connections, request);
        } catch (IllegalStateException e) {
            if (isOpen()) {
                throw e;
            }
            return null; // closed meanwhile
        }
    }

    @Override
    protected void onClosing() {
        real.close(); // wakes its waiters
    }

    @Override
    protected void doClose() {
        real.close();
    }
}
