package io.rdmacomm.soft.transport;

import java.lang.foreign.MemorySegment;

/// Puts the datagrams of one queue pair on the network. Under its send lock; allocates nothing.
public interface DatagramOutput extends AutoCloseable {
    /// The most bytes of payload.
    int longest();

    /// Where a datagram is built.
    MemorySegment memory();

    /// Where in [#memory] the payload goes.
    int payloadAt(OutgoingDatagram datagram);

    /// Sends a datagram whose payload is in [#memory]. If the network does not take it, it is lost.
    void send(OutgoingDatagram datagram, DatagramAddress to);

    /// Releases what it holds.
    @Override
    void close();
}
