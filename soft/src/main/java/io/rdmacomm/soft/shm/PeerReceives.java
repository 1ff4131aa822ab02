package io.rdmacomm.soft.shm;

import io.rdmacomm.soft.mapped.CompletionFields;

/// Takes the receives of a peer for messages, and ends them. Under the send lock of this side's queue pair.
interface PeerReceives {
    /// The position of the oldest receive that is waiting there, or -1 when there is none.
    long oldest();

    /// The work id of a receive, for [#complete]; 0 if the peer knows it.
    long workId(long position);

    /// Whether the receive at `position` is known to be posted.
    boolean isKnown(long position);

    /// Whether the payload of a message can be put at [#payload] of the peer's control file, instead of into the
    /// memory of the receive, which then need not be taken.
    boolean takesPayload(long position, long bytes);

    /// Where that is.
    long payload(long position);

    /// Takes the oldest receive, so that this side may write to its memory.
    ///
    /// @return false if others have taken it, or the peer has stopped receiving
    boolean take(long position, long workId);

    /// Takes the oldest receive for a message that does not need its memory.
    ///
    /// @return false if others have taken it
    boolean takeWithoutMemory(long position, long workId);

    /// Whether a receive that was taken may still be completed, after this side has let other threads run. The peer
    /// may have failed, and flushed it.
    boolean mayComplete();

    /// Ends the receive that was taken.
    ///
    /// @param payloadIsPlaced whether the payload is at [#payload]
    /// @return [io.rdmacomm.soft.mapped.CompletionRing#PUSHED] or OVERRUN, or the word of the armed queue
    ///         if its owner waits for an announcement
    long complete(CompletionFields fields, boolean payloadIsPlaced);

    /// Whether the message that was completed last has arrived: a process that was stopped for long before it
    /// completed the message may have lost its peer.
    boolean hasArrived();

    /// Does not end the receive that was taken.
    void giveUp();
}
