package io.rdmacomm.ibverbs.cm;

import io.rdmacomm.verbs.cm.DatagramListener;
import io.rdmacomm.verbs.cm.DatagramRequest;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/// Listens for datagram requests for one device.
final class IbvDatagramListener extends DatagramListener {
    private final IbvConnectionManager connections;
    private final ArrivedRequests requests;

    IbvDatagramListener(IbvConnectionManager connections, ArrivedRequests requests) {
        super(connections);
        this.connections = connections;
        this.requests = requests;
    }

    @Override
    public InetSocketAddress localAddress() {
        return requests.address();
    }

    @Override
    protected @Nullable DatagramRequest doAwaitRequest(long timeoutNanos) throws InterruptedException {
        return requests.await(
                timeoutNanos, (identifier, event) -> new IbvDatagramRequest(connections, identifier, event));
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
