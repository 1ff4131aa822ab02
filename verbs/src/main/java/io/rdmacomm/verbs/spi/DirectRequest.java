package io.rdmacomm.verbs.spi;

/// A send request of at most one scatter/gather element as plain values: the content of a [SendRequestLayout], on
/// the heap. [io.rdmacomm.verbs.DirectBatch] fills it; drivers only read it.
public final class DirectRequest {
    /// The work id.
    public long workId;
    /// [io.rdmacomm.verbs.SendOpcode#code()].
    public int opcode;
    /// The `FLAG_` bits of [SendRequestLayout].
    public int flags;
    /// Immediate data in network order, or the key to invalidate.
    public int immediate;
    /// Whether it has an element.
    public boolean hasElement;
    /// The address of the element.
    public long address;
    /// The length of the element, 0 to 2^32-1; 0 without an element.
    public long length;
    /// The local key of the element.
    public int localKey;
    /// The remote key.
    public int remoteKey;
    /// The remote address.
    public long remoteAddress;
    /// The value to compare with or to add.
    public long operand;
    /// The value to store.
    public long swap;

    /// An empty request.
    public DirectRequest() {}
}
