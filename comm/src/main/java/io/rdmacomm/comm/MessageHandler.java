package io.rdmacomm.comm;

/// Receives the messages and notices that arrive on a channel, in the order in which they were sent.
@FunctionalInterface
public interface MessageHandler {
    /// A message has arrived, or the notice of a WRITE that has arrived. Runs on the polling thread: it must
    /// not block.
    ///
    /// @param message valid until this method returns, unless it is retained
    void onMessage(RdmaChannel channel, Message message);
}
