package io.rdmacomm.comm.jmx;

/// An endpoint, with the sum over its data channels.
public interface EndPointMXBean extends CountersMXBean {
    /// Its name in messages.
    String getName();

    /// The name that the peer has given itself.
    String getPeerName();

    /// The peer's TCP address and port.
    String getPeerAddress();

    /// Its state: a constant of [io.rdmacomm.comm.EndPointState].
    String getState();

    /// Why it failed; empty if it has not.
    String getFailure();

    /// The number of its data channels.
    int getChannels();
}
