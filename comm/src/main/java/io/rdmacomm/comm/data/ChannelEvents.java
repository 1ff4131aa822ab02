package io.rdmacomm.comm.data;

import io.rdmacomm.verbs.RdmaException;
import io.rdmacomm.verbs.WorkStatus;

/// The events of an [RdmaAdapter], for the channel above it: its only upward calls. Called on the polling
/// thread unless stated otherwise. No method throws.
///
/// @param <H> the object that the channel gets back when an operation ends
public interface ChannelEvents<H> {
    /// An operation has ended.
    ///
    /// @param handler as it was given with the operation
    /// @param context as it was given with the operation
    /// @param result the old value of an atomic operation, else the length in bytes; 0 unless successful
    void onEnd(H handler, long context, WorkStatus status, long result);

    /// A message, or the notice of a WRITE, has arrived. Its memory is in use until [ReceiveBlocks#repost(int)].
    ///
    /// @param receive the receive that it is in
    /// @param length its length, or the number of bytes that were written
    /// @param notice whether it is a notice
    /// @param tagged whether it has a tag
    /// @param tag the tag; 0 if it has none
    void onArrival(int receive, long length, boolean notice, boolean tagged, int tag);

    /// Work has failed, and with it the queue pair.
    ///
    /// @param what the kind of work in words
    void onWorkFailed(String what, WorkStatus status, int vendorError);

    /// The queue pair can no longer be used. On any thread.
    void onFailed(RdmaException why);

    /// The peer should be asked to return unused receives of a shared pool. On any thread.
    void onRecall();

    /// The channel has requested this call with [RdmaAdapter#attention()].
    void onAttention();
}
