package io.rdmacomm.verbs.spi;

import io.rdmacomm.verbs.QueuePair;
import java.net.InetSocketAddress;

/// A program asks which queue pair receives datagrams ([io.rdmacomm.verbs.cm.DatagramRequest]). Thread-safe. It is
/// answered once before it is closed.
public interface DatagramRequestDriver extends Driver {
    /// The address of the program that asks.
    InetSocketAddress remoteAddress();

    /// The private data of the request, padded with zeros to the full size.
    byte[] privateData();

    /// Names a queue pair for datagrams of the same context (rdma_accept(3)). Does not wait for the peer.
    void accept(QueuePair queuePair, byte[] privateData);

    /// Rejects the request (rdma_reject(3)). Does not wait for the peer.
    void reject(byte[] privateData);
}
