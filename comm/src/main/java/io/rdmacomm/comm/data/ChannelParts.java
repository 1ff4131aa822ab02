package io.rdmacomm.comm.data;

import io.rdmacomm.comm.progress.CompletionGroup;
import io.rdmacomm.comm.progress.GroupMember;
import io.rdmacomm.verbs.QueuePair;

/// The parts of a channel that its receives work with.
///
/// @param queuePair takes them
/// @param workIdBase the number of its work
/// @param sends tells the peer of more receives
/// @param group where they complete
/// @param member is told of them
/// @param lost is told that the queue pair has failed, where no flushed receive tells that
/// @param recall asks the peer to give back receives that it does not use; on any thread, never blocks
record ChannelParts(
        QueuePair queuePair,
        long workIdBase,
        SendQueue<?> sends,
        CompletionGroup group,
        GroupMember member,
        Runnable lost,
        Runnable recall) {}
