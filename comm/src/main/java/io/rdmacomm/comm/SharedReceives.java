package io.rdmacomm.comm;

import io.rdmacomm.comm.data.Bounds;

/// One pool of receives for the data channels of a session, instead of [ChannelOptions#receives()] for each
/// of them: a server with a thousand clients needs memory for the messages that exist at the same time, not
/// for a full set of receives per client. Immutable.
///
/// Each channel is guaranteed a few receives. The others are lent to the channels whose peers send most, up to
/// [ChannelOptions#receives()] each, and return when messages are closed. One channel borrows at most half of the
/// receives for lending, so a receiver that keeps the messages of one channel does not stop the others.
///
/// Needs [io.rdmacomm.verbs.Capability#SHARED_RECEIVE_QUEUE].
public final class SharedReceives extends ValueObject<SharedReceives.Values> {
    private static final int USUAL = 4;

    record Values(int receives, int channels, int guaranteed) {}

    private SharedReceives(Values values) {
        super(values);
    }

    /// A pool for the data channels of a session. Each is guaranteed 4 receives, or fewer if that would be more than
    /// half of the pool.
    ///
    /// @param receives the most messages and notices of all channels at a time, 1 to 1048576; the device may
    ///         allow fewer. Each takes [ChannelOptions#messageBytes()] of memory
    /// @param channels the most data channels at a time, 1 to `receives`; further clients are refused
    /// @throws IllegalArgumentException if a number is out of its range
    public static SharedReceives of(int receives, int channels) {
        Bounds.range("shared receives", receives, 1, 1 << 20);
        Bounds.range("channels with shared receives", channels, 1, receives);
        return new SharedReceives(new Values(receives, channels, Math.clamp(receives / channels / 2, 1, USUAL)));
    }

    /// The most messages and notices of all channels at a time.
    public int receives() {
        return values.receives;
    }

    /// The most data channels at a time.
    public int channels() {
        return values.channels;
    }

    /// The receives that each channel is guaranteed.
    public int guaranteed() {
        return values.guaranteed;
    }

    /// This pool with another number of guaranteed receives.
    ///
    /// @param value at least 1; [#channels()] times this is at most [#receives()]
    /// @throws IllegalArgumentException if it is out of its range
    public SharedReceives withGuaranteed(int value) {
        Bounds.range("guaranteed receives of " + channels() + " channels", value, 1, receives() / channels());
        return new SharedReceives(new Values(values.receives, values.channels, value));
    }
}
