package io.rdmacomm.comm;

/// Makes the final decision on a data channel's options before its queue pair is created.
@FunctionalInterface
public interface ChannelConfigurer {
    /// Returns the options for a channel. Called once for each data channel, on the thread that sets the end
    /// point up; an exception fails that end point alone.
    ///
    /// @param index which data channel of its end point it is, counted from 0
    /// @param proposed what [SessionOptions#channel()] says
    ChannelOptions configure(int index, ChannelOptions proposed);
}
