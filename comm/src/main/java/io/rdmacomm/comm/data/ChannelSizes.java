package io.rdmacomm.comm.data;

/// The sizes of a channel's queues and memory.
///
/// @param sendWindow operations that may be in flight
/// @param receives receives that the channel may have at a time
/// @param messageBytes the longest message that can be received
/// @param inlineBytes the longest payload that is copied when it is posted
public record ChannelSizes(int sendWindow, int receives, int messageBytes, int inlineBytes) {
    private static final long LINE = 64;

    /// Entries in the send queue: two more than the window, for a credit update and an arrival read.
    int sends() {
        return sendWindow + 2;
    }

    /// The completions of one channel that can be in its completion queue at a time.
    public int completions() {
        return sends() + receives;
    }

    /// The memory that the peer may write to, with the results of atomic operations.
    public long cellBytes() {
        return aligned(ChannelMemory.RESULTS + (long) OperationRing.slots(sendWindow) * Long.BYTES);
    }

    private static long aligned(long bytes) {
        return bytes + LINE - 1 & -LINE;
    }
}
