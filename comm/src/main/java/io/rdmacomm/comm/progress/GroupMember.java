package io.rdmacomm.comm.progress;

import io.rdmacomm.verbs.Completions;
import io.rdmacomm.verbs.RdmaException;

/// The owner of a queue pair whose work completes in a [CompletionGroup]. Called on the polling thread.
public interface GroupMember {
    /// A request of the send queue has completed.
    ///
    /// @param index its place in `completions`
    /// @param workId its number
    void completed(Completions completions, int index, long workId);

    /// Whether there are operations for [#finishEnded()]. Any thread.
    default boolean hasEnded() {
        return false;
    }

    /// Ends the operations that had ended when they were posted.
    ///
    /// @return how many there were
    default int finishEnded() {
        return 0;
    }

    /// A receive has completed.
    ///
    /// @param index its place in `completions`
    /// @param receive which receive of the member it is
    void received(Completions completions, int index, int receive);

    /// The member can no longer be used: its completion queue cannot be polled, taking one of its completions has
    /// failed, or its peer has sent more than it may.
    void failed(RdmaException why);
}
