package io.rdmacomm.comm.jmx;

/// A data channel.
public interface ChannelMXBean extends CountersMXBean {
    /// Its name in messages.
    String getName();

    /// Operations that were accepted and have not ended.
    int getInFlight();

    /// Whether operations are accepted.
    boolean isOpen();
}
