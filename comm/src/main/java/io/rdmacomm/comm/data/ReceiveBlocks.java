package io.rdmacomm.comm.data;

import java.lang.foreign.MemorySegment;

/// Receives that messages arrive in: those of one channel, or those that the channels of a session share.
public interface ReceiveBlocks {
    /// How many there are.
    int count();

    /// The memory of a receive.
    MemorySegment block(int receive);

    /// The message in a receive is not needed any more: another may arrive in it. From any thread.
    void repost(int receive);
}
