package io.rdmacomm.comm.data;

import java.lang.foreign.MemorySegment;

/// Receives for messages: of one channel, or shared by the channels of a session.
public interface ReceiveBlocks {
    /// The number of receives.
    int count();

    /// The memory of a receive.
    MemorySegment block(int receive);

    /// The message in a receive is no longer needed: makes the receive available for another. Any thread.
    void repost(int receive);
}
