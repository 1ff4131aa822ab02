package io.rdmacomm.soft.transport;

import io.rdmacomm.verbs.AddressVector;
import io.rdmacomm.verbs.Gid;
import io.rdmacomm.verbs.PathMtu;
import io.rdmacomm.verbs.QueuePairAttributes;

/// The peer that a queue pair is connected to, as the two programs exchanged it. Under the queue pair's send lock.
public final class Destination {
    private Gid gid = Gid.NONE;
    private int lid;
    private int number;
    private int receivePsn;
    private int sendPsn;
    private int inboundReads = 1;
    private int outboundReads;
    private int mtu = PathMtu.MTU_1024.bytes();
    private boolean sending;

    /// No queue pair.
    public Destination() {}

    /// Reads the peer's numbers from the transition to READY_TO_RECEIVE.
    public void name(QueuePairAttributes attributes) {
        AddressVector path = attributes.addressVector();
        gid = path == null ? Gid.NONE : path.destinationGid();
        lid = path == null ? 0 : path.destinationLid();
        number = attributes.destinationNumber();
        receivePsn = attributes.receivePsn();
        inboundReads = Math.max(1, attributes.maxDestinationReadAtomic());
        mtu = attributes.pathMtu().bytes();
    }

    /// Reads the first packet number and the peer's limit of READs from the transition to READY_TO_SEND.
    public void beginSending(QueuePairAttributes attributes) {
        sendPsn = attributes.sendPsn();
        outboundReads = attributes.maxReadAtomic();
        sending = true;
    }

    /// The queue pair is no longer connected.
    public void forget() {
        sending = false;
    }

    /// The address of the peer's device.
    public Gid gid() {
        return gid;
    }

    /// The number of the peer's context.
    public int lid() {
        return lid;
    }

    /// The number of the peer's queue pair.
    public int number() {
        return number;
    }

    /// The number of the first packet that is expected.
    public int receivePsn() {
        return receivePsn;
    }

    /// The number of the first packet to send.
    public int sendPsn() {
        return sendPsn;
    }

    /// The number of READs and atomic operations of the peer that may be in flight.
    public int inboundReads() {
        return inboundReads;
    }

    /// The number of READs and atomic operations of this side that may be in flight.
    public int outboundReads() {
        return outboundReads;
    }

    /// The most bytes of payload in a packet.
    public int mtu() {
        return mtu;
    }

    /// Whether this side may send, and so knows the number of its first packet.
    public boolean isSending() {
        return sending;
    }
}
