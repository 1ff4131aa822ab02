package io.rdmacomm.comm.data;

import io.rdmacomm.comm.progress.CompletionGroup;
import io.rdmacomm.comm.progress.GroupMember;
import io.rdmacomm.verbs.QueuePair;

/// The parts of a channel that its receives use.
///
/// @param queuePair the queue pair that receives are posted for
/// @param workIdBase the shared part of its work IDs
/// @param sends announces more receives to the peer
/// @param group the group that the receives complete in
/// @param member gets their completions
/// @param lost notified when the queue pair has failed, if no flushed receive reports it
/// @param recall asks the peer to return unused receives; on any thread, never blocks
record ChannelParts(
        QueuePair queuePair,
        long workIdBase,
        SendQueue<?> sends,
        CompletionGroup group,
        GroupMember member,
        Runnable lost,
        Runnable recall) {}
