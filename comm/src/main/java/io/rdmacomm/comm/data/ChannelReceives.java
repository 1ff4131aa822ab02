package io.rdmacomm.comm.data;

import io.rdmacomm.comm.progress.CompletionGroup;

/// The receives of one channel, as its [RdmaAdapter] uses them from the first message to the end.
interface ChannelReceives {
    /// The receives in which messages arrive.
    ReceiveBlocks blocks();

    /// Whether the last message in this receive belonged to this channel. On any thread; it may be out of
    /// date.
    boolean holds(int receive);

    /// The queue pair accepts receives now, and its peer is about to send.
    void begin();

    /// The peer returns receives that it was granted.
    ///
    /// @return false if it does not have that many
    boolean returned(int count);

    /// No more messages are expected: the queue pair has failed or is about to be closed.
    void end();

    /// Whether the device has reported all receives that the queue pair in ERROR has used.
    boolean isFlushed();

    /// Calls `close`, which closes the queue pair. If closing would drop completions that the device has reported,
    /// dispatches them first.
    void beforeClose(CompletionGroup group, Runnable close);

    /// The queue pair is closed, and everything that the device has reported was dispatched. On the polling thread.
    void ended();
}
