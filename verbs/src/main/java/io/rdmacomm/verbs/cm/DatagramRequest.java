package io.rdmacomm.verbs.cm;

import io.rdmacomm.verbs.Errno;
import io.rdmacomm.verbs.QueuePair;
import io.rdmacomm.verbs.QueuePairType;
import io.rdmacomm.verbs.Resource;
import io.rdmacomm.verbs.VerbException;
import java.net.InetSocketAddress;
import java.util.concurrent.atomic.AtomicBoolean;

/// A program asks which queue pair receives datagrams (RDMA_CM_EVENT_CONNECT_REQUEST in the port space `RDMA_PS_UDP`,
/// rdma_get_cm_event(3)). Answer it once, with [#accept] or [#reject]; closing it unanswered rejects it. Thread-safe.
///
/// An answer can be lost; the program then asks again, and that is another request.
public abstract class DatagramRequest extends Resource {
    private static final String ACCEPT = "answer datagram request (rdma_accept)";

    private final ConnectionManager manager;
    private final AtomicBoolean answered = new AtomicBoolean();

    /// For providers.
    protected DatagramRequest(ConnectionManager manager) {
        super(manager);
        this.manager = manager;
    }

    /// The address of the program that asks.
    public abstract InetSocketAddress remoteAddress();

    /// The private data of the request, padded with zeros to the full size.
    public abstract byte[] privateData();

    /// Names the queue pair that receives datagrams (rdma_accept(3)). Does not wait for the peer. The address of the
    /// peer comes with its first datagram; see
    /// [io.rdmacomm.verbs.ProtectionDomain#createAddressHandle(int, io.rdmacomm.verbs.Completions, int,
    /// java.lang.foreign.MemorySegment)].
    ///
    /// @param queuePair a queue pair for datagrams with the key [DatagramTarget#QUEUE_KEY]; post receives first
    /// @param privateData bytes for the peer's program, at most [ConnectionManager#DATAGRAM_ANSWER_BYTES]
    /// @throws VerbException EINVAL if the queue pair is not for datagrams or belongs to another context, or the
    ///         private data is too long
    /// @throws IllegalStateException if the request was already answered
    public final void accept(QueuePair queuePair, byte[] privateData) {
        checkOpen();
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
        answer();
        doAccept(queuePair, privateData);
    }

    /// Rejects the request (rdma_reject(3)). Does not wait for the peer.
    ///
    /// @param privateData bytes for the peer's program, at most [ConnectionManager#DATAGRAM_ANSWER_BYTES]
    /// @throws VerbException EINVAL if the private data is too long
    /// @throws IllegalStateException if the request was already answered
    public final void reject(byte[] privateData) {
        checkOpen();
        manager.checkPrivateData(
                "reject datagram request (rdma_reject)", privateData, ConnectionManager.DATAGRAM_ANSWER_BYTES);
        answer();
        doReject(privateData);
    }

    private void answer() {
        if (!answered.compareAndSet(false, true)) {
            throw new IllegalStateException(this + " was already answered");
        }
    }

    @Override
    protected final void doClose() {
        try {
            if (answered.compareAndSet(false, true)) {
                doReject(new byte[0]);
            }
        } finally {
            doRelease();
        }
    }

    @Override
    public final String toString() {
        return "datagram request of " + remoteAddress() + " on " + manager.context();
    }

    /// Answers for [#accept].
    protected abstract void doAccept(QueuePair queuePair, byte[] privateData);

    /// Rejects for [#reject] and for a request that is closed unanswered.
    protected abstract void doReject(byte[] privateData);

    /// Releases the provider's resources of an answered request.
    protected abstract void doRelease();
}
