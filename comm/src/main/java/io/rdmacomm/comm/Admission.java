package io.rdmacomm.comm;

/// The result of a `try` method of [RdmaChannel] or [ChannelBatch]: the operation was accepted, or why it was not.
public enum Admission {
    /// The operation was accepted. It ends exactly once, and its handler is called.
    ACCEPTED,
    /// [ChannelOptions#sendWindow()] operations are in flight. Poll, and try again.
    WINDOW_FULL,
    /// The peer has no receive posted for another message or notice. Try again when it has received some.
    NO_CREDIT,
    /// Operations of the future and blocking forms are queued and start first. Poll, and try again.
    OTHERS_WAIT,
    /// The channel accepts no operations, because it is not open; see [RdmaChannel#checkOpen()]. Do not try
    /// again.
    CLOSED;

    /// Returns whether the operation was accepted.
    public boolean isAccepted() {
        return this == ACCEPTED;
    }
}
