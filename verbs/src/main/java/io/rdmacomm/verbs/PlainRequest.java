package io.rdmacomm.verbs;

/// A send request of at most one element as plain values, for [QueuePair#executeAtOnce]. Reusable, and not
/// thread-safe. The fields are public because filling and reading them is a large part of the time that a small
/// operation takes.
public class PlainRequest {
    /// [SendOpcode#code()].
    public int opcode;
    /// The `FLAG_` bits of [io.rdmacomm.verbs.spi.SendRequestLayout].
    public int flags;
    /// Immediate data in network order, or the key to invalidate.
    public int immediate;
    /// The number of elements.
    public int elements;
    /// The address of the element, if it is the only one.
    public long address;
    /// The bytes in all elements.
    public long length;
    /// The local key of the element, if it is the only one.
    public int localKey;
    /// The remote address, or the handle of the address handle of a datagram.
    public long remoteAddress;
    /// The remote key, or the destination queue pair number of a datagram.
    public int remoteKey;
    /// The value to compare with or to add.
    public long operand;
    /// The value to store.
    public long swap;

    /// An empty request.
    public PlainRequest() {}
}
