package io.rdmacomm.verbs.cm;

import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairType;
import io.rdmacomm.verbs.Resource;
import io.rdmacomm.verbs.VerbException;
import io.rdmacomm.verbs.lifetime.Lifetime;
import io.rdmacomm.verbs.spi.DatagramRequestDriver;
import java.net.InetSocketAddress;

/// A peer's request for a queue pair that receives datagrams (RDMA_CM_EVENT_CONNECT_REQUEST in the port space
/// `RDMA_PS_UDP`, rdma_get_cm_event(3)). Answer it once, with [#accept] or [#reject]; closing it unanswered
/// rejects it. Thread-safe.
///
/// An answer can be lost; the peer then repeats the request, which arrives as a new one.
public final class DatagramRequest implements Resource {
    private static final String ACCEPT = "answer datagram request (rdma_accept)";

    private final ConnectionManager manager;
    private final DatagramRequestDriver driver;
    private final Answer answer = new Answer(this);
    private final Lifetime lifetime;

    DatagramRequest(ConnectionManager manager, DatagramRequestDriver driver) {
        this.manager = manager;
        this.driver = driver;
        this.lifetime = new Lifetime(this, manager.lifetime(), driver, () -> answer.close(driver, driver::reject));
    }

    /// The address of the requesting program.
    public InetSocketAddress remoteAddress() {
        return driver.remoteAddress();
    }

    /// The private data of the request, padded with zeros to the full size.
    public byte[] privateData() {
        return driver.privateData();
    }

    /// Answers with the queue pair that receives datagrams (rdma_accept(3)). Does not wait for the peer. The
    /// address of the peer comes with its first datagram; see
    /// [io.rdmacomm.verbs.ProtectionDomain#createAddressHandle(int, io.rdmacomm.verbs.Completions, int,
    /// java.lang.foreign.MemorySegment)].
    ///
    /// @param queuePair a queue pair for datagrams with the key [DatagramTarget#QUEUE_KEY]; post receives first
    /// @param privateData bytes for the peer's program, at most [ConnectionManager#DATAGRAM_ANSWER_BYTES]
    /// @throws VerbException EINVAL if the queue pair is not for datagrams or belongs to another context, or the
    ///         private data is too long
    /// @throws IllegalStateException if the request was already answered
    public void accept(QueuePair queuePair, byte[] privateData) {
        lifetime.checkOpen();
        if (!queuePair.protectionDomain().context().equals(manager.context())) {
            throw new VerbException(
                    ACCEPT, Errno.EINVAL, queuePair + " belongs to another context than " + manager.context());
        }
        QueuePairType type = queuePair.options().type();
        if (type != QueuePairType.UNRELIABLE_DATAGRAM) {
            throw new VerbException(
                    ACCEPT,
                    Errno.EINVAL,
                    queuePair + " is " + type + "; only " + QueuePairType.UNRELIABLE_DATAGRAM + " receives datagrams");
        }
        manager.checkPrivateData(ACCEPT, privateData, ConnectionManager.DATAGRAM_ANSWER_BYTES);
        answer.give();
        driver.accept(queuePair, privateData);
    }

    /// Rejects the request (rdma_reject(3)). Does not wait for the peer.
    ///
    /// @param privateData bytes for the peer's program, at most [ConnectionManager#DATAGRAM_ANSWER_BYTES]
    /// @throws VerbException EINVAL if the private data is too long
    /// @throws IllegalStateException if the request was already answered
    public void reject(byte[] privateData) {
        lifetime.checkOpen();
        manager.checkPrivateData(
                "reject datagram request (rdma_reject)", privateData, ConnectionManager.DATAGRAM_ANSWER_BYTES);
        answer.give();
        driver.reject(privateData);
    }

    Lifetime lifetime() {
        return lifetime;
    }

    @Override
    public boolean isOpen() {
        return lifetime.isOpen();
    }

    @Override
    public void close() {
        lifetime.close();
    }

    @Override
    public String toString() {
        return "datagram request of " + remoteAddress() + " on " + manager.context();
    }
}
