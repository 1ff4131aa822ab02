package io.rdmacomm.ibverbs.cm;

import io.rdmacomm.ibverbs.structs.IbvFailure;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.cm.DatagramRequest;
import java.net.InetSocketAddress;

/// The identifier of a datagram request that arrived; it accepts (rdma_accept(3)) or rejects (rdma_reject(3)).
final class IbvDatagramRequest extends DatagramRequest {
    private final IbvConnectionManager connections;
    private final ConnectionIdentifier identifier;
    private final IdentifierEvent request;
    private final InetSocketAddress remote;

    IbvDatagramRequest(IbvConnectionManager connections, ConnectionIdentifier identifier, IdentifierEvent request) {
        super(connections);
        this.connections = connections;
        this.identifier = identifier;
        this.request = request;
        this.remote = identifier.remoteAddress();
        identifier.handOver(connections.channel(), this);
    }

    @Override
    public InetSocketAddress remoteAddress() {
        return remote;
    }

    @Override
    public byte[] privateData() {
        return request.privateData().clone();
    }

    @Override
    protected void doAccept(QueuePair queuePair, byte[] privateData) {
        int errno = DatagramParameters.with(
                privateData,
                queuePair.number(),
                pointer -> identifier.call(id -> connections.library().accept(id, pointer)));
        IbvFailure.check("answer datagram request (rdma_accept)", errno, remote.toString());
    }

    @Override
    protected void doReject(byte[] privateData) {
        connections.reject(identifier, privateData);
    }

    @Override
    protected void doRelease() {
        identifier.destroy(this);
    }
}
