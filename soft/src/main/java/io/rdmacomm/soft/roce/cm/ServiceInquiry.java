package io.rdmacomm.soft.roce.cm;

import io.rdmacomm.soft.roce.mad.ServiceReply;
import io.rdmacomm.soft.roce.mad.ServiceRequest;
import java.net.InetAddress;

/// A peer's request for the queue pair of a datagram service. The program answers it once. Thread-safe.
public final class ServiceInquiry {
    private final CommunicationManager manager;
    private final InetAddress peer;
    private final long transaction;
    private final ServiceRequest request;

    ServiceInquiry(CommunicationManager manager, InetAddress peer, long transaction, ServiceRequest request) {
        this.manager = manager;
        this.peer = peer;
        this.transaction = transaction;
        this.request = request;
    }

    /// The address of the peer.
    public InetAddress peer() {
        return peer;
    }

    /// The request.
    public ServiceRequest request() {
        return request;
    }

    /// Sends the answer.
    ///
    /// @param status of [ServiceReply]
    /// @param queuePair its number
    public void answer(int status, int queuePair, int queueKey, byte[] privateData) {
        manager.lock.lock();
        try {
            if (manager.forget(this)) {
                manager.send(
                        peer,
                        transaction,
                        new ServiceReply(request.id(), status, queuePair, request.service(), queueKey, privateData));
            }
        } finally {
            manager.lock.unlock();
        }
    }
}
