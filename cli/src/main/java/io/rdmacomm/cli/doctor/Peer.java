package io.rdmacomm.cli.doctor;

/// Makes the other ends of connections: on this host, or on another one.
interface Peer {
    /// Makes an end that is not connected.
    Far open(EndPlan plan);
}
