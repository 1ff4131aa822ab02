package io.rdmacomm.comm;

import io.rdmacomm.comm.data.Bounds;

/// One pool of receives for the data channels of a session, instead of [ChannelOptions#receives()] for each of them:
/// a server with a thousand clients needs memory for the messages that are there at the same time, not for a
/// thousand times as many.
///
/// Each channel is guaranteed a few receives. The others are lent to the channels whose peers send most, up to
/// [ChannelOptions#receives()] to each, and return when messages are closed. One channel borrows at most half of
/// what can be lent, so a receiver that keeps the messages of one channel does not stop the others.
///
/// Needs [io.rdmacomm.verbs.Capability#SHARED_RECEIVE_QUEUE].
///
/// @param receives how many messages and notices of all channels there may be at a time, 1 to 1048576; the device
///         may allow fewer. Receives times [ChannelOptions#messageBytes()] is allocated
/// @param channels how many data channels there may be at a time, at least 1; further clients are refused
/// @param guaranteed how many receives each channel has at least, at least 1; channels times this is at most
///         `receives`
public record SharedReceives(int receives, int channels, int guaranteed) {
    private static final int USUAL = 4;

    /// Checks the ranges.
    public SharedReceives {
        Bounds.range("shared receives", receives, 1, 1 << 20);
        Bounds.range("channels with shared receives", channels, 1, receives);
        Bounds.range("guaranteed receives of " + channels + " channels", guaranteed, 1, receives / channels);
    }

    /// A pool of `receives` for at most `channels` channels, which are guaranteed 4 each, or fewer if that would be
    /// more than half of the pool.
    public static SharedReceives of(int receives, int channels) {
        return new SharedReceives(receives, channels, Math.clamp(receives / Math.max(1, channels) / 2, 1, USUAL));
    }

    /// This pool with another number of guaranteed receives.
    public SharedReceives withGuaranteed(int value) {
        return new SharedReceives(receives, channels, value);
    }
}
