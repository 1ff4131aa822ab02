package io.rdmacomm.cli.doctor;

/// Creates the other ends of connections, on this host or another one.
interface Peer {
    /// Creates an end that is not connected.
    PeerEnd open(EndPlan plan);
}
