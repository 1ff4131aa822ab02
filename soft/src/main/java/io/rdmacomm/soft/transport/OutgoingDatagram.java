package io.rdmacomm.soft.transport;

/// The fields of a datagram besides its payload. Reused for each datagram.
public final class OutgoingDatagram {
    /// The number of the queue pair that it is for.
    public int destination;
    /// The queue key that the receiver must have.
    public int queueKey;
    /// Whether it has immediate data.
    public boolean hasImmediate;
    /// Immediate data, to send with the most significant byte first; 0 if there is none.
    public int immediate;
    /// Whether the receiver's completion is a solicited event.
    public boolean solicited;
    /// The number of bytes of payload.
    public int bytes;

    /// Nothing yet.
    public OutgoingDatagram() {}
}
