package io.rdmacomm.fault;

import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.cm.DatagramRequest;
import java.net.InetSocketAddress;

/// Stands for a datagram request.
final class FaultDatagramRequest extends DatagramRequest {
    private final DatagramRequest real;

    FaultDatagramRequest(FaultConnectionManager manager, DatagramRequest real) {
        super(manager);
        this.real = real;
    }

    @Override
    public InetSocketAddress remoteAddress() {
        return real.remoteAddress();
    }

    @Override
    public byte[] privateData() {
        return real.privateData();
    }

    @Override
    protected void doAccept(QueuePair queuePair, byte[] privateData) {
        real.accept(((FaultQueuePair) queuePair).real(), privateData);
    }

    @Override
    protected void doReject(byte[] privateData) {
        if (real.isOpen()) {
            real.reject(privateData);
        }
    }

    @Override
    protected void doRelease() {
        real.close();
    }
}
