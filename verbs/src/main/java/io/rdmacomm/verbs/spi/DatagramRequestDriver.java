package io.rdmacomm.verbs.spi;

import io.rdmacomm.verbs.QueuePair;
import java.net.InetSocketAddress;

/// A peer's request for a queue pair that receives datagrams ([io.rdmacomm.verbs.cm.DatagramRequest]).
/// Thread-safe. It is answered once before it is closed.
public interface DatagramRequestDriver extends Driver {
    /// The address of the requesting program.
    InetSocketAddress remoteAddress();

    /// The private data of the request, padded with zeros to the full size.
    byte[] privateData();

    /// Answers with a datagram queue pair of the same context (rdma_accept(3)). Does not wait for the peer.
    void accept(QueuePair queuePair, byte[] privateData);

    /// Rejects the request (rdma_reject(3)). Does not wait for the peer.
    void reject(byte[] privateData);
}
