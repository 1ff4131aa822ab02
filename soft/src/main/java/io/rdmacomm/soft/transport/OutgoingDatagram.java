package io.rdmacomm.soft.transport;

/// What a datagram says besides its payload. Reused for each.
public final class OutgoingDatagram {
    /// The number of the queue pair that it is for.
    public int destination;
    /// The queue key that the receiver must have.
    public int queueKey;
    /// Whether it has immediate data.
    public boolean hasImmediate;
    /// Immediate data, the value that is sent most significant byte first; 0 without.
    public int immediate;
    /// Whether the receiver's completion is a solicited event.
    public boolean solicited;
    /// The number of bytes of payload.
    public int bytes;

    /// Nothing yet.
    public OutgoingDatagram() {}
}
