package io.rdmacomm.ibverbs.cm;

import io.rdmacomm.ibverbs.structs.IbvFailure;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.spi.DatagramRequestDriver;
import java.net.InetSocketAddress;

/// The identifier of a datagram request that arrived; it accepts (rdma_accept(3)) or rejects (rdma_reject(3)).
final class IbvDatagramRequest implements DatagramRequestDriver {
    private final DeviceConnections connections;
    private final ConnectionIdentifier identifier;
    private final IdentifierEvent request;
    private final InetSocketAddress remote;

    IbvDatagramRequest(DeviceConnections connections, ConnectionIdentifier identifier, IdentifierEvent request) {
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
    public void accept(QueuePair queuePair, byte[] privateData) {
        int errno = ParameterStruct.ofDatagrams(
                privateData,
                queuePair.number(),
                pointer -> identifier.call(id -> connections.library().accept(id, pointer)));
        IbvFailure.check("answer datagram request (rdma_accept)", errno, remote.toString());
    }

    @Override
    public void reject(byte[] privateData) {
        connections.reject(identifier, privateData);
    }

    @Override
    public void close() {
        identifier.destroy(this);
    }

    @Override
    public String toString() {
        return "datagram request of " + remote + " on " + connections;
    }
}
