package io.rdmacomm.ibverbs.cm;

import io.rdmacomm.verbs.cm.ConnectionRequest;
import io.rdmacomm.verbs.cm.Listener;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/// Listens for connection requests for one device.
final class IbvListener extends Listener {
    private final IbvConnectionManager connections;
    private final ArrivedRequests requests;

    IbvListener(IbvConnectionManager connections, ArrivedRequests requests) {
        super(connections);
        this.connections = connections;
        this.requests = requests;
    }

    @Override
    public InetSocketAddress localAddress() {
        return requests.address();
    }

    @Override
    protected @Nullable ConnectionRequest doAwaitRequest(long timeoutNanos) throws InterruptedException {
        return requests.await(
                timeoutNanos, (identifier, event) -> new IbvConnectionRequest(connections, identifier, event));
    }

    @Override
    protected void onClosing() {
        requests.wake();
    }

    @Override
    protected void doClose() {
        requests.close();
    }
}
