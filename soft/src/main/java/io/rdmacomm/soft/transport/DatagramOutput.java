package io.rdmacomm.soft.transport;

import java.lang.foreign.MemorySegment;

/// Sends the datagrams of one queue pair to the network. Under its send lock; allocates nothing.
public interface DatagramOutput extends AutoCloseable {
    /// The most bytes of payload.
    int longest();

    /// The buffer that a datagram is built in.
    MemorySegment memory();

    /// The offset of the payload in [#memory].
    int payloadAt(OutgoingDatagram datagram);

    /// Sends a datagram whose payload is in [#memory]. If the network does not take it, it is lost.
    void send(OutgoingDatagram datagram, DatagramAddress to);

    /// Releases what it holds.
    @Override
    void close();
}
