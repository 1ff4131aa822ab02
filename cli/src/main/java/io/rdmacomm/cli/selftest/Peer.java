package io.rdmacomm.cli.selftest;

/// Makes the other ends of connections: on this host, or on another one.
public interface Peer {
    /// Makes an end that is not connected.
    Far open(EndPlan plan);
}
