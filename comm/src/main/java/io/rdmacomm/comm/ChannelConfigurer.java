package io.rdmacomm.comm;

/// Makes the final decision on a data channel's options before its queue pair is created.
@FunctionalInterface
public interface ChannelConfigurer {
    /// Returns the options for a channel: `proposed` with changes. Options built from the defaults would lose
    /// the connection options: port, GID, MTU, retries. Called once for each data channel, on the thread that
    /// sets up the endpoint; an exception fails only that endpoint.
    ///
    /// @param index the index of the data channel in its endpoint, counted from 0
    /// @param proposed the options of [SessionOptions#channel()]
    ChannelOptions configure(int index, ChannelOptions proposed);
}
